"""Choices that exclude each other: a project that says it uses one of a group usually does not use another one for that."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from rag_ls.util.patterns import lazy_pattern

_GROUPS = (
    "postgresql|postgres mysql|mariadb sqlite mongodb oracle cockroachdb dynamodb",
    "npm yarn pnpm bun",
    "argon2|argon2id bcrypt scrypt pbkdf2",
    "kubernetes|k8s|gke|eks|aks ecs|fargate nomad|swarm heroku",
    "squash|squashed|squash-merged rebase|rebased|rebasing",
    "utc local|berlin|cet|cest|pst|est",
    "monday|mondays tuesday|tuesdays wednesday|wednesdays thursday|thursdays friday|fridays saturday|saturdays sunday|sundays",
    "alpine debian|bookworm|bookworm-slim|bullseye ubuntu distroless",
    "localstorage|sessionstorage cookie|cookies",
    "vault secrets-manager|secretsmanager|ssm",
    "tailwind css-modules|modules styled-components sass|scss",
    "dark light",
    "celery sidekiq lambda rq",
    "rabbitmq kafka sqs nats",
    "rest graphql grpc",
    "pytest unittest nose",
    "jest vitest mocha",
    "black ruff autopep8 yapf",
    "flake8 pylint",
    "uuid|uuidv4|uuidv7|ulid bigint|auto-increment|auto-incrementing|autoincrement|serial|identity",
    "tabs spaces",
    "main master develop trunk",
    "camelcase snake_case kebab-case pascalcase",
    "github gitlab bitbucket",
    "jenkins circleci travis",
    "poetry uv pipenv pip-tools|pip",
    "maven gradle bazel",
    "react vue svelte angular",
    "redux zustand mobx",
    "aws|s3 gcp|gcs azure",
    "redis memcached",
    "json xml protobuf yaml",
    "monorepo polyrepo",
    "offset|page-based cursor|keyset",
    "english german french spanish",
    "optimistic pessimistic",
    "soft-delete|soft-deleted|deleted_at hard-delete|hard-deleted",
    "terraform pulumi cloudformation cdk",
    "nginx caddy traefik apache",
    "sqlalchemy django-orm peewee",
    "structured unstructured|plain",
)
_WORD = lazy_pattern(r"[a-z0-9]+(?:[-_][a-z0-9]+)*", re.IGNORECASE)


def find_alternatives(one: str, other: str) -> tuple[str, str] | None:
    """Two choices of one group, if each text names exactly one of them, another one; else None."""
    first, second = _find_choices(one), _find_choices(other)
    for group in sorted(first.keys() & second.keys()):
        if len(first[group]) == len(second[group]) == 1:
            ((left, shown), (right, shown_too)) = (*first[group].items(), *second[group].items())
            if left != right:
                return shown, shown_too
    return None


@lru_cache(maxsize=4096)
def _find_choices(text: str) -> dict[int, dict[str, str]]:
    """The choices that a text names, as they are written, by their group."""
    found: dict[int, dict[str, str]] = {}
    for word in _WORD.findall(text):
        for group, choice in _choices().get(word.lower(), ()):
            found.setdefault(group, {}).setdefault(choice, word)
    return found


@cache
def _choices() -> dict[str, list[tuple[int, str]]]:
    known: dict[str, list[tuple[int, str]]] = {}
    for number, group in enumerate(_GROUPS):
        for choice in group.split():
            for name in choice.split("|"):
                known.setdefault(name, []).append((number, choice))
    return known
