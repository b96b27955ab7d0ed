"""Samples of the smaller languages: see `samples`."""

from __future__ import annotations

from .sample import Sample

MORE_SAMPLES: tuple[Sample, ...] = (
    Sample(
        "pkgs/session.nix",
        "nix",
        ("shellFor", "packages"),
        """{ pkgs ? import <nixpkgs> { } }:

let
  # Builds a shell for a language.
  shellFor = { name, tools, version ? "1.0.0", extra ? [ ] }:
    pkgs.mkShell {
      inherit name version;
      buildInputs = tools ++ extra ++ [ pkgs.git pkgs.curl pkgs.jq pkgs.gnumake ];
      shellHook = "echo entering ${name} ${version}";
    };
in
rec {
  hooks = import ./hooks.nix;
  packages = {
    default = shellFor { name = "default"; tools = [ pkgs.python3 pkgs.nodejs ]; };
    docs = shellFor { name = "docs"; tools = [ pkgs.mdbook pkgs.graphviz pkgs.texlive ]; };
    lint = shellFor { name = "lint"; tools = [ pkgs.ruff pkgs.shellcheck ]; };
  };
}
""",
        imports=("./hooks.nix", "<nixpkgs>"),
    ),
    Sample(
        "api/session.proto",
        "protobuf",
        ("Session", "Sessions", "Level"),
        """syntax = "proto3";

package auth.v1;

import "google/protobuf/timestamp.proto";
import public "auth/v1/user.proto";

// A signed-in user's session.
message Session {
  string user = 1;
  google.protobuf.Timestamp expires = 2;
  repeated string groups = 3;
  map<string, string> labels = 4;
}

enum Level {
  LEVEL_UNSPECIFIED = 0;
  LEVEL_DEBUG = 1;
  LEVEL_INFO = 2;
  LEVEL_WARNING = 3;
  LEVEL_ERROR = 4;
}

// Keeps sessions.
service Sessions {
  rpc Refresh(RefreshRequest) returns (Session);
  rpc List(ListRequest) returns (stream Session);
}
""",
        imports=("google/protobuf/timestamp.proto", "auth/v1/user.proto"),
    ),
    Sample(
        "schema.graphql",
        "graphql",
        ("Session", "NewSession", "Sessions"),
        '''# What the API offers.
"""
A signed-in user's session.
"""
type Session implements Node {
  id: ID!
  user: User!
  expires: DateTime!
  groups(first: Int = 10, after: String): [Group!]!
}

input NewSession {
  user: ID!
  lifetime: Int = 3600
  groups: [ID!]
  label: String
  renew: Boolean = true
}

query Sessions($first: Int!) {
  sessions(first: $first) { id expires user { id name email groups { id name } } }
}
''',
        imports=(),
    ),
    Sample(
        "src/Session.elm",
        "elm",
        ("Session", "refresh", "Msg"),
        """module Session exposing (Session, refresh)

import Dict exposing (Dict)
import Time


{-| A signed-in user's session. -}
type alias Session =
    { user : String
    , expires : Int
    , lifetime : Int
    , groups : List String
    }


type Msg
    = SignedIn String
    | SignedOut
    | Refreshed Time.Posix
    | Failed { code : Int, message : String }


{-| Moves the end further away. -}
refresh : Int -> Session -> Result String Session
refresh now session =
    if now > session.expires then
        Err ("session of " ++ session.user ++ " is over")

    else
        Ok { session | expires = now + session.lifetime }
""",
        imports=("Dict", "Time"),
    ),
    Sample(
        "src/session.erl",
        "erlang",
        ("session", "refresh", "clamp"),
        """-module(session).
-export([refresh/2, clamp/3]).
-include("session.hrl").
-include_lib("kernel/include/logger.hrl").
-import(lists, [map/2, filter/2]).

-record(session, {user :: binary(), expires = 0 :: integer(), lifetime = 3600 :: integer(), groups = [] :: list()}).

%% Moves the end further away.
-spec refresh(#session{}, integer()) -> {ok, #session{}} | {error, over}.
refresh(#session{expires = Expires}, Now) when Now > Expires ->
    {error, over};
refresh(Session = #session{lifetime = Lifetime}, Now) ->
    {ok, Session#session{expires = Now + Lifetime}}.

clamp(Value, Low, _High) when Value < Low -> Low;
clamp(Value, _Low, High) when Value > High -> High;
clamp(Value, _Low, _High) -> Value.
""",
        imports=("session.hrl", "kernel/include/logger.hrl", "lists"),
    ),
    Sample(
        "src/acme/shop/session.clj",
        "clojure",
        ("acme.shop.session", "refresh", "clamp"),
        """(ns acme.shop.session
  "Sessions of people [who signed in]."
  (:require [acme.shop.cart :as cart]
            [clojure.string :as str :refer [join split]]
            acme.shop.clock)
  (:import (java.util Date UUID)
           java.io.File))

(def lifetime "Seconds." 3600)
(def ^:private levels #{:debug :info :warning :error})

(defrecord Session [user expires lifetime groups labels])

(defn refresh
  "Moves the end further away."
  [session now]
  (when (> now (:expires session))
    (throw (ex-info (str "over: " (:user session)) {:now now})))
  (assoc session :expires (+ now lifetime)))

(defn- clamp
  ([value] (clamp value 0 100))
  ([value low high] (-> value (max low) (min high) (as-> clamped (if (number? clamped) clamped low)))))
""",
        imports=("acme.shop.cart", "clojure.string", "acme.shop.clock", "java.util", "java.io.File"),
    ),
    Sample(
        "Session.ps1",
        "powershell",
        ("Get-Session", "Session"),
        """Import-Module ActiveDirectory
. ./helpers.ps1

# A signed-in user's session.
class Session {
    [string] $User
    [datetime] $Expires
    [int] $Lifetime = 3600

    [void] Refresh([datetime] $now) {
        if ($now -gt $this.Expires) {
            throw "session of $($this.User) is over"
        }
        $this.Expires = $now.AddSeconds($this.Lifetime)
    }
}

# Finds a session by its key.
function Get-Session {
    param([string] $Key, [hashtable] $Store)
    if (-not $Store.ContainsKey($Key)) {
        Write-Error "no session $Key"
        return $null
    }
    return $Store[$Key]
}
""",
        imports=("ActiveDirectory", "./helpers.ps1"),
    ),
    Sample(
        "src/session.f90",
        "fortran",
        ("sessions.refresh", "sessions.clamp"),
        """module sessions
  use iso_fortran_env, only: real64
  implicit none

  type :: session
    character(len=64) :: user
    real(real64) :: expires = 0.0
    real(real64) :: lifetime = 3600.0
  end type session

contains

  ! Moves the end further away.
  subroutine refresh(self, now, status)
    type(session), intent(inout) :: self
    real(real64), intent(in) :: now
    integer, intent(out) :: status
    status = 0
    if (now > self%expires) status = 1
    self%expires = now + self%lifetime
  end subroutine refresh

  function clamp(value, low, high) result(clamped)
    real(real64), intent(in) :: value, low, high
    real(real64) :: clamped
    clamped = min(max(value, low), high)
  end function clamp

end module sessions
""",
        imports=("iso_fortran_env",),
    ),
    Sample(
        "contracts/Vault.sol",
        "solidity",
        ("Vault", "Vault.withdraw", "Vault.onlyOwner"),
        """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {Ownable} from "./Ownable.sol";
import "./Token.sol";

/// Keeps tokens for their owners.
contract Vault is Ownable {
    mapping(address => uint256) public balances;
    address private keeper;

    event Withdrawn(address indexed who, uint256 amount);

    modifier onlyOwner() {
        require(msg.sender == keeper, "only the keeper may do this");
        require(keeper != address(0), "there is no keeper");
        _;
    }

    /// Gives tokens back.
    function withdraw(uint256 amount) external onlyOwner returns (uint256) {
        require(balances[msg.sender] >= amount, "too much");
        balances[msg.sender] -= amount;
        emit Withdrawn(msg.sender, amount);
        return balances[msg.sender];
    }
}
""",
        imports=("./Ownable.sol", "./Token.sol"),
    ),
    Sample(
        "CMakeLists.txt",
        "cmake",
        ("add_unit_test", "print_all"),
        """cmake_minimum_required(VERSION 3.20)
project(session VERSION 1.0.0 LANGUAGES C CXX)
include(GNUInstallDirs)
find_package(Threads REQUIRED)
add_subdirectory(src)

set(WARNINGS -Wall -Wextra)
add_executable(session main.c session.c)

# Adds a test and what it needs.
function(add_unit_test name)
  add_executable(${name} ${name}.c)
  target_link_libraries(${name} PRIVATE session Threads::Threads)
  target_compile_options(${name} PRIVATE ${WARNINGS})
  add_test(NAME ${name} COMMAND ${name})
endfunction()

macro(print_all)
  foreach(item IN ITEMS ${ARGN})
    message(STATUS "item: ${item} ${CMAKE_CURRENT_SOURCE_DIR}")
  endforeach()
endmacro()
""",
        imports=("GNUInstallDirs", "Threads", "src"),
    ),
    Sample(
        "Makefile",
        "make",
        ("build", "deploy"),
        """include config.mk local.mk

CC := gcc
CFLAGS = -Wall -Wextra -O2

.PHONY: build deploy

# Compiles everything.
build: main.o session.o util.o
\t$(CC) $(CFLAGS) -o session main.o session.o util.o
\tstrip session
\tinstall -m 755 session dist/session

deploy: build
\trsync -av --delete dist/ server:/srv/session/
\tssh server systemctl restart session.service
\tcurl --fail https://example.org/health
""",
        imports=("config.mk", "local.mk"),
    ),
    Sample(
        "styles/site.scss",
        "scss",
        ("button", "double", ".card"),
        """@use "colors";
@import "base", "layout";

// A round button.
@mixin button($color, $radius: 4px) {
  background: $color;
  border-radius: $radius;
  padding: 4px 8px;
  color: white;
  &:hover { opacity: 0.9; }
}

@function double($value, $unit: 1px) {
  $result: $value * 2 * $unit;
  @return $result + $value + $unit;
}

.card {
  margin: 4px 8px 4px 8px;
  border: 1px solid black;
  .title { font-weight: bold; font-size: 14px; }
  .text { line-height: 1.5; }
}
""",
        imports=("colors", "base", "layout"),
    ),
    Sample(
        "src/session.gleam",
        "gleam",
        ("Session", "refresh"),
        """import gleam/int.{max, min}
import gleam/string

/// A signed-in user's session.
pub type Session {
  Session(user: String, expires: Int, lifetime: Int, groups: List(String), labels: List(String))
}

const lifetime = 3600

/// Moves the end further away.
pub fn refresh(session: Session, now: Int) -> Result(Session, String) {
  case now > session.expires {
    True -> Error(string.append("over: ", session.user))
    False -> Ok(Session(..session, expires: now + lifetime))
  }
}

fn clamp(value: Int, low: Int, high: Int) -> Int {
  min(max(value, low), high)
}
""",
        imports=("gleam/int", "gleam/string"),
    ),
    Sample(
        "schema.prisma",
        "prisma",
        ("Session", "Level"),
        """datasource db {
  provider = "postgresql"
  url      = env("DATABASE_URL")
}

model Session {
  id       Int      @id @default(autoincrement())
  user     User     @relation(fields: [userId], references: [id])
  userId   Int
  expires  DateTime @default(now())
}

enum Level {
  DEBUG
  INFO
  WARNING
  ERROR
  CRITICAL
  UNKNOWN_LEVEL_OF_MESSAGE
  ANOTHER_LEVEL_OF_MESSAGE
}
""",
        imports=(),
    ),
    Sample(
        "api/session.thrift",
        "thrift",
        ("Session", "Sessions"),
        """namespace py auth
include "user.thrift"

// A signed-in user's session.
struct Session {
  1: required string user,
  2: optional i64 expires = 0,
  3: optional list<string> groups,
  4: optional map<string, string> labels,
}

service Sessions {
  Session refresh(1: string key, 2: i64 lifetime) throws (1: NotFound missing),
  list<Session> all(1: i32 limit, 2: i32 offset),
  void remove(1: string key),
}
""",
        imports=("user.thrift",),
    ),
    Sample(
        "Session.m",
        "objective-c",
        ("Session", "Session.refresh", "clamp"),
        """#import "Session.h"
#import <Foundation/Foundation.h>
@import UIKit;

// A signed-in user's session.
@implementation Session

// Moves the end further away.
- (void)refresh:(NSTimeInterval)lifetime now:(NSDate *)now {
    if ([now compare:self.expires] == NSOrderedDescending) {
        @throw [NSException exceptionWithName:@"over" reason:self.user userInfo:nil];
    }
    self.expires = [now dateByAddingTimeInterval:lifetime];
}

+ (Session *)sessionForUser:(NSString *)user {
    Session *session = [[Session alloc] init];
    session.user = user;
    return session;
}

@end

static int clamp(int value, int low, int high) {
    int smallest = value < low ? low : value;
    int largest = smallest > high ? high : smallest;
    return largest;
}
""",
        imports=("Session.h", "Foundation/Foundation.h", "UIKit"),
    ),
)
