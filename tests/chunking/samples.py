"""Short, realistic samples: one a language, with symbols that a small budget must bring out."""

from __future__ import annotations

from .more_samples import MORE_SAMPLES
from .newer_samples import NEWER_SAMPLES
from .sample import Sample

__all__ = ["SAMPLES", "Sample"]

SAMPLES: tuple[Sample, ...] = (
    Sample(
        "auth/session.py",
        "python",
        ("Session", "Session.refresh", "Session.is_valid", "load_session", "DEFAULTS", "fetch_all"),
        '''"""Sessions of signed-in users."""

import time
from dataclasses import dataclass

DEFAULTS = {"lifetime": 3600, "renew": True, "cookie": "sid", "path": "/"}


@dataclass
class Session:
    """A signed-in user's session.

    It ends after `lifetime` seconds.
    """

    user: str
    expires: float = 0.0

    def refresh(self, lifetime: int = 3600) -> None:
        """Move the end of the session further away."""
        now = time.time()
        if now > self.expires:
            raise ValueError("session is over")
        self.expires = now + lifetime

    @property
    def is_valid(self) -> bool:
        # A clock that runs backwards must not prolong it.
        return time.time() < self.expires and bool(self.user)


# Reads the store.
def load_session(store: dict[str, Session], key: str) -> Session:
    session = store.get(key)
    if session is None or not session.is_valid:
        raise KeyError(key)
    return session


async def fetch_all(keys: list[str]) -> list[Session]:
    result = []
    for key in keys:
        result.append(load_session({}, key))
    return result
''',
    ),
    Sample(
        "src/cart.jsx",
        "javascript",
        ("Cart", "Cart.add", "Cart.total", "formatPrice", "CartView", "legacy.sum"),
        """import React from "react";
const TAX = 0.19;

/** A shopping cart. */
export class Cart {
  items = [];

  /** Adds an item, or raises its count. */
  add(item, count = 1) {
    const found = this.items.find((other) => other.id === item.id);
    if (found) { found.count += count; } else { this.items.push({ ...item, count }); }
  }

  get total() {
    return this.items.reduce((sum, item) => sum + item.price * item.count, 0) * (1 + TAX);
  }
}

// Euro, always with two digits.
export const formatPrice = (value) => {
  const rounded = Math.round(value * 100) / 100;
  return `${rounded.toFixed(2)} EUR`;
};

export default function CartView({ cart }) {
  return (
    <ul className="cart">
      {cart.items.map((item) => <li key={item.id}>{item.name}: {formatPrice(item.price)}</li>)}
    </ul>
  );
}

legacy.sum = function (numbers) {
  let result = 0;
  for (const number of numbers) { result += number; }
  return result;
};
""",
    ),
    Sample(
        "src/store.ts",
        "typescript",
        ("Store", "Key", "Level", "MemoryStore", "MemoryStore.get", "Util.clamp", "createStore"),
        """import { EventEmitter } from "events";

/** What every store can do. */
export interface Store<T> {
  get(key: string): Promise<T | undefined>;
  set(key: string, value: T): Promise<void>;
  readonly size: number;
}

export type Key<T> = keyof T & string | { toString(): string; valueOf(): object; hash: number };

export enum Level { Debug = "debug", Info = "info", Warning = "warning", Error = "error" }

@injectable()
export class MemoryStore<T> extends EventEmitter implements Store<T> {
  private readonly values = new Map<string, T>();

  constructor(private readonly level: Level) { super(); }

  @logged()
  async get(key: string): Promise<T | undefined> {
    this.emit("get", key, this.level);
    const value = this.values.get(key);
    return value === undefined ? undefined : value;
  }

  async set(key: string, value: T): Promise<void> {
    this.emit("set", key, value, this.level);
    this.values.set(key, value);
  }

  get size(): number { return this.values.size; }
}

namespace Util {
  export function clamp(value: number, low: number, high: number): number {
    if (low > high) { throw new RangeError(`${low} > ${high}`); }
    return Math.min(Math.max(value, low), high);
  }
}

export const createStore = async <T,>(level: Level = Level.Info): Promise<Store<T>> => {
  const store = new MemoryStore<T>(level);
  return store;
};
""",
    ),
    Sample(
        "src/Panel.tsx",
        "tsx",
        ("PanelProps", "Panel", "useToggle"),
        """import { useState, type ReactNode } from "react";

export interface PanelProps {
  title: string;
  children: ReactNode;
  open?: boolean;
  onToggle?: (open: boolean) => void;
}

/** Remembers whether something is open. */
function useToggle(initial: boolean): [boolean, () => void] {
  const [open, setOpen] = useState(initial);
  return [open, () => setOpen((value) => !value)];
}

export const Panel = ({ title, children, open = false }: PanelProps) => {
  const [shown, toggle] = useToggle(open);
  return (
    <section className="panel">
      <h2 onClick={toggle}>{title}</h2>
      {shown ? <div>{children}</div> : null}
    </section>
  );
};
""",
    ),
    Sample(
        "auth/session.go",
        "go",
        ("Session", "Session.Refresh", "Pool.Get", "NewSession", "Store"),
        """// Package auth keeps sessions.
package auth

import (
	"errors"
	"time"
)

// ErrExpired says that the session is over.
var ErrExpired = errors.New("expired")

const (
	Lifetime = time.Hour
	Grace    = time.Minute
)

// Session is a signed-in user's session.
type Session struct {
	User    string    `json:"user"`
	Expires time.Time `json:"expires"`
	renewed int
}

type Store interface {
	Load(key string) (*Session, error)
	Save(key string, session *Session) error
	Delete(key string) error
}

type Pool[T any] struct{ free []T }

// NewSession starts a session.
func NewSession(user string, now time.Time) *Session {
	return &Session{User: user, Expires: now.Add(Lifetime), renewed: 0}
}

// Refresh moves the end further away.
func (s *Session) Refresh(now time.Time) error {
	if now.After(s.Expires.Add(Grace)) {
		return ErrExpired
	}
	s.Expires = now.Add(Lifetime)
	s.renewed++
	return nil
}

func (p *Pool[T]) Get() (T, bool) {
	var zero T
	if len(p.free) == 0 {
		return zero, false
	}
	last := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return last, true
}
""",
    ),
    Sample(
        "src/session.rs",
        "rust",
        ("Session", "Session.refresh", "Session.fmt", "Error", "Store", "util.clamp", "retry"),
        """//! Sessions of signed-in users.
use std::fmt;
use std::time::{Duration, Instant};

/// What can go wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    Expired { user: String, since: Duration },
    Unknown(String),
}

/// A session.
#[derive(Debug)]
pub struct Session<'a> {
    pub user: &'a str,
    expires: Instant,
    renewed: u32,
    lifetime: Duration,
}

impl<'a> Session<'a> {
    /// Moves the end further away.
    #[must_use]
    pub fn refresh(&mut self, now: Instant) -> Result<(), Error> {
        if now > self.expires {
            return Err(Error::Unknown(self.user.to_string()));
        }
        self.expires = now + self.lifetime;
        self.renewed += 1;
        Ok(())
    }
}

impl<'a> fmt::Display for Session<'a> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (renewed {} times, {:?})", self.user, self.renewed, self.lifetime)
    }
}

pub trait Store {
    fn load(&self, key: &str) -> Option<Session<'_>>;
    fn save(&mut self, key: &str, session: Session<'_>) -> Result<(), Error>;
}

mod util {
    pub fn clamp(value: i64, low: i64, high: i64) -> i64 {
        assert!(low <= high, "low must not be above high");
        if value < low { low } else if value > high { high } else { value }
    }
}

macro_rules! retry {
    ($times:expr, $body:expr) => {{
        let mut result = $body;
        for _ in 1..$times { if result.is_ok() { break; } result = $body; }
        result
    }};
}
""",
    ),
    Sample(
        "src/list.c",
        "c",
        ("list_push", "list_find", "node", "color"),
        """#include <stdlib.h>
#include <string.h>
#define MAX_LEN 64

/* One link of the list. */
struct node {
    char name[MAX_LEN];
    int value;
    struct node *next;
    struct node *previous;
};

typedef enum { RED, GREEN, BLUE, CYAN, MAGENTA, YELLOW, BLACK, WHITE, GREY, BROWN } color;

/* Puts a node in front. */
struct node *list_push(struct node *head, const char *name, int value)
{
    struct node *fresh = malloc(sizeof *fresh);
    strncpy(fresh->name, name, MAX_LEN - 1);
    fresh->value = value;
    fresh->next = head;
    return fresh;
}

static const struct node *list_find(const struct node *head, const char *name)
{
    for (; head != NULL; head = head->next)
        if (strcmp(head->name, name) == 0)
            return head;
    return NULL;
}
""",
    ),
    Sample(
        "src/session.cpp",
        "cpp",
        ("auth.Session", "auth.Session.refresh", "auth.Session.~Session", "auth.clamp"),
        """#include <string>
#include <stdexcept>

namespace auth {

/// A session.
class Session : public Base {
public:
    explicit Session(std::string user) : user_(std::move(user)) {}
    virtual ~Session();
    void refresh(long now);
    bool valid(long now) const { return now < expires_ && !user_.empty(); }

private:
    std::string user_;
    long expires_ = 0;
    long lifetime_ = 3600;
};

// Moves the end further away.
void Session::refresh(long now)
{
    if (now > expires_) {
        throw std::runtime_error("session is over: " + user_);
    }
    expires_ = now + lifetime_;
}

Session::~Session()
{
    user_.clear();
    expires_ = 0;
    lifetime_ = 0;
    log("a session ended", user_, expires_);
}

template <typename T>
T clamp(const T &value, const T &low, const T &high)
{
    return value < low ? low : (high < value ? high : value);
}

}  // namespace auth
""",
    ),
    Sample(
        "src/Session.java",
        "java",
        ("Session", "Session.refresh", "Session.Kind", "Store", "Point"),
        """package com.example.auth;

import java.time.Instant;
import java.util.Objects;

/**
 * A signed-in user's session.
 *
 * @since 1.0
 */
@Entity
public final class Session extends Base implements Comparable<Session> {
    private final String user;
    private Instant expires = Instant.EPOCH;

    public Session(String user) {
        this.user = Objects.requireNonNull(user);
    }

    /** Moves the end further away. */
    @Override
    public void refresh(Instant now, long lifetime) throws ExpiredException {
        if (now.isAfter(expires)) {
            throw new ExpiredException(user);
        }
        expires = now.plusSeconds(lifetime);
    }

    public enum Kind {
        PASSWORD("p"), TOKEN("t"), CERTIFICATE("c"), ANONYMOUS("a");
        private final String code;
        Kind(String code) { this.code = code; }
    }
}

interface Store<T> {
    T load(String key) throws java.io.IOException;
    void save(String key, T value) throws java.io.IOException;
}

record Point(double x, double y, double z, String name, java.util.List<String> tags) {}
""",
    ),
    Sample(
        "src/Session.cs",
        "csharp",
        ("Session", "Session.Refresh", "IStore"),
        """using System;
using System.Collections.Generic;

namespace Example.Auth
{
    /// <summary>A signed-in user's session.</summary>
    [Serializable]
    public sealed class Session : Base, IDisposable
    {
        private readonly string _user;
        public DateTime Expires { get; private set; }
        public bool IsValid => DateTime.UtcNow < Expires && _user.Length > 0;

        public Session(string user) { _user = user ?? throw new ArgumentNullException(nameof(user)); }

        /// <summary>Moves the end further away.</summary>
        public void Refresh(TimeSpan lifetime)
        {
            if (DateTime.UtcNow > Expires)
            {
                throw new InvalidOperationException($"{_user}: the session is over");
            }
            Expires = DateTime.UtcNow + lifetime;
        }

        public void Dispose() { Expires = DateTime.MinValue; }
    }

    public interface IStore<T>
    {
        T Load(string key);
        void Save(string key, T value);
        IEnumerable<string> Keys { get; }
    }
}
""",
    ),
    Sample(
        "src/Session.kt",
        "kotlin",
        ("Session", "Session.refresh", "Level", "String.words", "Registry"),
        """package com.example.auth

import java.time.Instant

/** A signed-in user's session. */
class Session(private val user: String) : Base(), Comparable<Session> {
    var expires: Instant = Instant.EPOCH
        private set
    val isValid: Boolean get() = Instant.now() < expires

    /** Moves the end further away. */
    fun refresh(lifetime: Long = 3600) {
        val now = Instant.now()
        check(now < expires) { "session of $user is over" }
        expires = now.plusSeconds(lifetime)
    }

    companion object {
        fun of(user: String): Session = Session(user).also { it.refresh() }
    }
}

enum class Level(val code: Int, val label: String) {
    DEBUG(0, "debug"), INFO(1, "info"), WARNING(2, "warning"), ERROR(3, "error")
}

fun String.words(): List<String> {
    return this.split(Regex("\\\\s+")).filter { it.isNotEmpty() }.map { it.lowercase() }
}

object Registry {
    private val sessions = mutableMapOf<String, Session>()
    fun find(key: String): Session? = sessions[key]?.takeIf { it.isValid }
}
""",
    ),
    Sample(
        "src/Session.scala",
        "scala",
        ("Session", "Session.refresh", "Store", "Sessions", "Point"),
        """package com.example.auth

import java.time.Instant
import scala.collection.mutable

/** A signed-in user's session. */
class Session(val user: String) extends Base with Ordered[Session] {
  private var expires: Instant = Instant.EPOCH

  /** Moves the end further away. */
  def refresh(lifetime: Long = 3600): Either[String, Instant] = {
    val now = Instant.now()
    if (now.isAfter(expires)) Left(s"session of $user is over")
    else { expires = now.plusSeconds(lifetime); Right(expires) }
  }

  def compare(that: Session): Int = user.compareTo(that.user)
}

trait Store[T] {
  def load(key: String): Option[T]
  def save(key: String, value: T): Unit
  def keys: Iterator[String] = Iterator.empty
}

object Sessions {
  private val all = mutable.Map.empty[String, Session]
  def find(key: String): Option[Session] = all.get(key).filter(_.user.nonEmpty)
}

case class Point(x: Double, y: Double, z: Double, name: String, tags: List[String], weight: Option[Double])
""",
    ),
    Sample(
        "Sources/Session.swift",
        "swift",
        ("Session", "Session.refresh", "Store", "Level", "clamp"),
        """import Foundation

/// A signed-in user's session.
public final class Session: Base, Codable {
    let user: String
    private(set) var expires = Date.distantPast
    var isValid: Bool { return Date() < expires && !user.isEmpty }

    init(user: String) {
        self.user = user
    }

    /// Moves the end further away.
    @discardableResult
    public func refresh(lifetime: TimeInterval = 3600) throws -> Date {
        guard Date() < expires else { throw SessionError.expired(user: user) }
        expires = Date().addingTimeInterval(lifetime)
        return expires
    }
}

protocol Store {
    associatedtype Value
    func load(key: String) throws -> Value?
    mutating func save(key: String, value: Value) throws
}

enum Level: Int, CaseIterable {
    case debug = 0, info, warning, error
    var label: String { switch self { case .debug: return "debug"; default: return "other" } }
}

extension Session: CustomStringConvertible {
    public var description: String { "\\(user) until \\(expires), valid: \\(isValid), for now"  }
}

func clamp<T: Comparable>(_ value: T, low: T, high: T) -> T {
    precondition(low <= high, "low must not be above high")
    return min(max(value, low), high)
}
""",
    ),
    Sample(
        "lib/session.rb",
        "ruby",
        ("Auth.Session", "Auth.Session.refresh", "Auth.Session.load", "Auth.LIMITS"),
        """# frozen_string_literal: true

require "time"

module Auth
  LIMITS = { lifetime: 3600, renewals: 10, grace: 60, users: 1_000, groups: 50, cookie: "sid" }.freeze

  # A signed-in user's session.
  class Session < Base
    include Comparable
    attr_reader :user, :expires

    def initialize(user)
      @user = user
      @expires = Time.at(0)
    end

    # Moves the end further away.
    def refresh(lifetime: LIMITS[:lifetime])
      raise ExpiredError, "session of #{user} is over" if Time.now > expires

      @expires = Time.now + lifetime
    end

    def self.load(store, key)
      store.fetch(key) do
        raise KeyError, "no session with the key #{key.inspect} is in the store"
      end
    end
  end
end
""",
    ),
    Sample(
        "src/Session.php",
        "php",
        ("Session", "Session.refresh", "Store", "clamp"),
        """<?php
namespace App\\Auth;

use DateTimeImmutable;
use RuntimeException;

/**
 * A signed-in user's session.
 */
#[Entity]
final class Session extends Base implements \\JsonSerializable
{
    private const LIFETIME = 3600;
    private ?DateTimeImmutable $expires = null;

    public function __construct(private string $user) {}

    /** Moves the end further away. */
    public function refresh(DateTimeImmutable $now, int $lifetime = self::LIFETIME): void
    {
        if ($this->expires !== null && $now > $this->expires) {
            throw new RuntimeException("session of {$this->user} is over");
        }
        $this->expires = $now->modify("+{$lifetime} seconds");
    }
}

interface Store
{
    public function load(string $key): ?Session;
    public function save(string $key, Session $session): void;
    public function delete(string $key): void;
}

function clamp(int $value, int $low, int $high): int
{
    if ($low > $high) { throw new RuntimeException("$low > $high"); }
    return min(max($value, $low), $high);
}
""",
    ),
    Sample(
        "lib/session.ex",
        "elixir",
        ("MyApp.Auth.Session", "MyApp.Auth.Session.refresh", "MyApp.Auth.Session.expired?"),
        '''defmodule MyApp.Auth.Session do
  @moduledoc """
  Sessions of signed-in users.
  """

  alias MyApp.Repo
  defstruct [:user, expires: 0, lifetime: 3600]

  @doc """
  Moves the end further away.
  """
  @spec refresh(t(), integer()) :: {:ok, t()} | {:error, :expired}
  def refresh(%__MODULE__{} = session, now \\\\ System.os_time(:second)) do
    if expired?(session, now) do
      {:error, :expired}
    else
      {:ok, %{session | expires: now + session.lifetime}}
    end
  end

  # The end itself still counts.
  defp expired?(%__MODULE__{expires: expires}, now) when is_integer(now) do
    difference = now - expires
    difference > 0 and Repo.aggregate(:sessions, difference) != :prolonged
  end
end
''',
    ),
    Sample(
        "lib/session.lua",
        "lua",
        ("Session.new", "Session.refresh", "clamp"),
        """local Session = {}
Session.__index = Session

-- Starts a session.
function Session.new(user, lifetime)
  local self = setmetatable({}, Session)
  self.user = user
  self.lifetime = lifetime or 3600
  return self
end

-- Moves the end further away.
function Session:refresh(now)
  if now > self.expires then
    error("session of " .. self.user .. " is over")
  end
  self.expires = now + self.lifetime
end

local function clamp(value, low, high)
  if low > high then error("low must not be above high") end
  if value < low then return low elseif value > high then return high end
  return value
end

return Session
""",
    ),
    Sample(
        "scripts/deploy.sh",
        "bash",
        ("build", "deploy"),
        """#!/usr/bin/env bash
set -euo pipefail

TARGET="${1:-staging}"
REGION=eu-central-1

# Builds the image.
build() {
  local tag
  tag="$(git rev-parse --short HEAD)"
  docker build --pull --tag "registry.example.com/app:${tag}" .
  docker push "registry.example.com/app:${tag}"
}

function deploy {
  if [[ "$TARGET" == production ]]; then
    read -r -p "Deploy to production? " answer
    [[ "$answer" == yes ]] || exit 1
  fi
  kubectl --context "$TARGET-$REGION" rollout restart deployment/app
}

build
deploy
""",
    ),
    Sample(
        "db/schema.sql",
        "sql",
        ("users", "active_users", "sessions_by_user", "touch"),
        """-- People who can sign in.
CREATE TABLE IF NOT EXISTS users (
    id BIGINT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT now()
);

CREATE VIEW active_users AS
SELECT u.id, u.email, count(s.id) AS sessions
FROM users u JOIN sessions s ON s.user_id = u.id
WHERE s.expires > now()
GROUP BY u.id, u.email;

CREATE UNIQUE INDEX sessions_by_user ON sessions (user_id, expires DESC, created_at, region, device, country);

CREATE FUNCTION touch(who BIGINT) RETURNS void AS $$
BEGIN
    UPDATE sessions SET expires = now() + interval '1 hour' WHERE user_id = who;
END;
$$ LANGUAGE plpgsql;

INSERT INTO users (id, email, name) VALUES (1, 'ada@example.com', 'Ada'), (2, 'bob@example.com', 'Bob');
""",
    ),
    Sample(
        "docs/guide.md",
        "markdown",
        ("Guide > Install > On Linux", "Guide > Install > On macOS", "Guide > Configuration"),
        """---
title: Guide
---

# Guide

This guide shows how to install and to configure the server, step by step.

## Install

You need Python 3.11 or newer on your machine, and about two gigabytes of disk.

### On Linux

Open a terminal, then run the command below. It takes a minute or two to finish, most of it the model.

```bash
# not a heading
pip install server && server --version
```

### On macOS

- Install Homebrew, if it is not there yet, by following the steps on its site.
- Run `brew install server`, then `server --version` to see that it works.

## Configuration

| key | meaning |
| --- | --- |
| `port` | the port on which the server listens, 8080 unless told |
| `log` | how much it says: `debug`, `info`, `warning` |
""",
    ),
    Sample(
        "site/index.html",
        "html",
        ("form#search", "footer"),
        """<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>Sessions</title>
  <style>body { margin: 0; padding: 0; color: #333; background: #fff; font-family: sans-serif; }</style>
</head>
<body>
  <main id="content" class="wide">
    <h1>Sessions</h1>
    <p>Everybody who is signed in right now, and for how long they will be.</p>
    <form id="search" action="/search" method="get">
      <label for="q">Name</label>
      <input id="q" name="q" type="search" placeholder="Ada" required>
      <button type="submit">Search</button>
    </form>
  </main>
  <footer>
    <p>Made with care by the people who made the rest of it, too.</p>
    <a href="/imprint">Imprint</a> <a href="/privacy">Privacy</a> <a href="/contact">Contact</a>
  </footer>
</body>
</html>
""",
    ),
    Sample(
        "site/style.css",
        "css",
        (".button:hover, .button:focus", ".card > .title", "@media (max-width: 600px)", "@keyframes pulse"),
        """@import url("reset.css");
:root { --accent: #07c; }

/* What the pointer is on. */
.button:hover,
.button:focus {
  background: var(--accent);
  border: 1px solid currentColor;
  transition: background 0.2s ease-in-out;
}

.card > .title {
  font: 600 1.2rem/1.4 "Inter", sans-serif;
  margin: 0 0 0.5rem 0;
  color: var(--accent);
}

@media (max-width: 600px) {
  .card { padding: 0.5rem; border-radius: 0; }
  .button { width: 100%; display: block; }
}

@keyframes pulse {
  from { opacity: 1; transform: scale(1); }
  50% { opacity: 0.5; transform: scale(1.1); }
  to { opacity: 1; transform: scale(1); }
}
""",
    ),
    Sample(
        "package.json",
        "json",
        ("scripts", "dependencies", "jest"),
        """{
  "name": "example",
  "version": "1.0.0",
  "private": true,
  "scripts": {
    "build": "tsc --project tsconfig.build.json",
    "test": "jest --coverage --runInBand",
    "lint": "eslint src --ext .ts,.tsx --max-warnings 0"
  },
  "dependencies": {
    "express": "^4.18.2",
    "react": "^18.2.0",
    "react-dom": "^18.2.0",
    "zod": "^3.22.4"
  },
  "jest": {
    "preset": "ts-jest",
    "testEnvironment": "node",
    "coverageThreshold": { "global": { "branches": 80, "functions": 90, "lines": 90 } }
  }
}
""",
    ),
    Sample(
        ".github/workflows/ci.yml",
        "yaml",
        ("jobs.test", "jobs.lint", "on"),
        """# Runs on every push.
name: CI
on:
  push:
    branches: [main, develop, "release/**"]
  pull_request:
    paths-ignore: ["docs/**", "**.md", "LICENSE"]
jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        python: ["3.11", "3.12", "3.13"]
    steps:
      - uses: actions/checkout@v4
      - name: Tests
        run: |
          pip install -e .[dev]
          pytest --maxfail=1 --durations=10
  lint:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: pip install ruff mypy && ruff check . && mypy --strict src
""",
    ),
    Sample(
        "pyproject.toml",
        "toml",
        ("project", "project.optional-dependencies", "tool.ruff.lint", "tool.mypy.overrides"),
        """# The build needs nothing else.
[project]
name = "example"
version = "1.0.0"
description = "Sessions of signed-in users, and what they may do"
dependencies = ["numpy>=1.26", "httpx>=0.27", "platformdirs>=4"]

[project.optional-dependencies]
dev = ["pytest>=8", "hypothesis>=6", "ruff>=0.6", "mypy>=1.11"]
docs = ["mkdocs>=1.6", "mkdocs-material>=9.5"]

[tool.ruff.lint]
select = ["E", "F", "I", "B", "UP", "SIM", "RUF", "N", "C4", "PT"]
ignore = ["E501", "B008", "N802"]

[[tool.mypy.overrides]]
module = ["usearch.*", "tree_sitter_language_pack.*", "sentence_transformers.*"]
ignore_missing_imports = true
""",
    ),
    Sample(
        "lib/session.dart",
        "dart",
        ("Session", "Session.refresh", "clamp"),
        """import 'dart:async';

/// A signed-in user's session.
class Session extends Base implements Comparable<Session> {
  final String user;
  DateTime expires = DateTime(1970);

  Session(this.user);

  /// Moves the end further away.
  void refresh(Duration lifetime, {bool force = false}) {
    if (!force && DateTime.now().isAfter(expires)) {
      throw StateError('session of $user is over');
    }
    expires = DateTime.now().add(lifetime);
  }
}

int clamp(int value, int low, int high) {
  assert(low <= high, 'low must not be above high');
  if (value < low) return low;
  return value > high ? high : value;
}
""",
    ),
    Sample(
        "src/Session.hs",
        "haskell",
        ("Session", "refresh"),
        """module Session (Session (..), refresh) where

import Data.Time (UTCTime, addUTCTime)

-- | A signed-in user's session.
data Session = Session
  { user :: String
  , expires :: UTCTime
  , lifetime :: Int
  } deriving (Show, Eq, Ord)

-- | Moves the end further away.
refresh :: UTCTime -> Session -> Either String Session
refresh now session
  | now > expires session = Left ("session of " ++ user session ++ " is over")
  | otherwise = Right session { expires = addUTCTime (fromIntegral (lifetime session)) now }
""",
    ),
    Sample(
        "src/session.zig",
        "zig",
        ("Session", "clamp"),
        """const std = @import("std");

/// A signed-in user's session.
pub const Session = struct {
    user: []const u8,
    expires: i64 = 0,

    pub fn refresh(self: *Session, now: i64) !void {
        if (now > self.expires) return error.Expired;
        self.expires = now + 3600;
    }
};

pub fn clamp(value: i64, low: i64, high: i64) i64 {
    std.debug.assert(low <= high);
    if (value < low) return low;
    return if (value > high) high else value;
}
""",
    ),
    Sample(
        "src/Panel.vue",
        "vue",
        ("template", "toggle", ".panel"),
        """<template>
  <section class="panel">
    <h2 @click="toggle">{{ title }}</h2>
    <div v-if="open"><slot name="body" :title="title"></slot></div>
  </section>
</template>

<script setup lang="ts">
import { ref } from "vue";
const props = defineProps<{ title: string }>();
const open = ref(false);
function toggle() { open.value = !open.value; }
</script>

<style scoped>
.panel { border: 1px solid #ccc; padding: 0.5rem; }
.panel h2 { cursor: pointer; margin: 0; font-size: 1.2rem; }
</style>
""",
    ),
    Sample(
        "src/Panel.svelte",
        "svelte",
        ("toggle", "section#panel"),
        """<script>
  export let title = "Panel";
  let open = false;
  function toggle() { open = !open; }
  $: label = open ? `close ${title}` : `open ${title}`;
</script>

<section id="panel" class:open>
  <h2 on:click={toggle}>{label}</h2>
  {#if open}
    <div><slot name="body" {title} /></div>
  {/if}
</section>
""",
    ),
    Sample(
        "Dockerfile",
        "dockerfile",
        ("build",),
        """# Two stages: the second holds no compiler.
FROM python:3.11-slim AS build
WORKDIR /app
COPY pyproject.toml README.md ./
RUN pip install --no-cache-dir build && python -m build --wheel --outdir /dist .

FROM python:3.11-slim
COPY --from=build /dist /dist
RUN pip install --no-cache-dir /dist/*.whl && rm -rf /dist
ENTRYPOINT ["rag-ls", "serve", "--host", "0.0.0.0"]
""",
    ),
    Sample(
        "infra/main.tf",
        "hcl",
        ("resource.aws_instance.web", "variable.region"),
        """# Where everything runs.
variable "region" {
  type        = string
  default     = "eu-central-1"
  description = "The region in which all of the machines run"
}

resource "aws_instance" "web" {
  ami           = data.aws_ami.ubuntu.id
  instance_type = "t3.micro"
  tags = {
    Name = "web-${var.region}"
    Team = "platform"
  }
}
""",
    ),
    Sample(
        "R/session.R",
        "r",
        ("refresh", "clamp"),
        """library(stats)

# Moves the end further away.
refresh <- function(session, now = Sys.time(), lifetime = 3600) {
  if (now > session$expires) {
    stop("session of ", session$user, " is over")
  }
  session$expires <- now + lifetime
  session
}

clamp = function(value, low, high) {
  stopifnot(low <= high, is.numeric(value), is.numeric(low))
  pmin(pmax(value, low), high)
}
""",
    ),
    Sample(
        "src/Session.jl",
        "julia",
        ("Auth.Session", "Auth.refresh!", "Auth.clamp_all"),
        """module Auth

export Session, refresh!

\"\"\"A signed-in user's session.\"\"\"
mutable struct Session
    user::String
    expires::Float64
    lifetime::Float64
    Session(user) = new(user, 0.0, 3600.0)
end

# Moves the end further away.
function refresh!(session::Session, now::Float64 = time())
    if now > session.expires
        error("session of $(session.user) is over")
    end
    session.expires = now + session.lifetime
    return session
end

clamp_all(values, low, high) = [min(max(value, low), high) for value in values if low <= high]

end
""",
    ),
    Sample(
        "src/session.ml",
        "ocaml",
        ("session", "refresh", "Store"),
        """open Printf

(** A signed-in user's session. *)
type session = {
  user : string;
  mutable expires : float;
  lifetime : float;
  mutable renewed : int;
  groups : string list;
}

exception Expired of string

(** Moves the end further away. *)
let refresh session now =
  if now > session.expires then raise (Expired (sprintf "session of %s is over" session.user))
  else session.expires <- now +. session.lifetime

module Store = struct
  let all : (string, session) Hashtbl.t = Hashtbl.create 16
  let find key = Hashtbl.find_opt all key
  let add key session = Hashtbl.replace all key session
end
""",
    ),
    *MORE_SAMPLES,
    *NEWER_SAMPLES,
)
