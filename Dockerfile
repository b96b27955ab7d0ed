# syntax=docker/dockerfile:1
# The engine over HTTP, without torch: docs/docker.md says how to run it.
FROM python:3.13-slim-bookworm AS build
COPY --from=ghcr.io/astral-sh/uv:0.13.9 /uv /usr/local/bin/uv
ENV UV_PROJECT_ENVIRONMENT=/opt/rag-ls UV_LINK_MODE=copy UV_COMPILE_BYTECODE=1 UV_NO_CACHE=1
WORKDIR /src
COPY pyproject.toml uv.lock README.md CHANGELOG.md LICENSE SECURITY.md ./
COPY packages packages
COPY rag_ls rag_ls
# The versions that were tested, with their hashes.
RUN uv sync --frozen --no-dev --no-editable --python /usr/local/bin/python

FROM python:3.13-slim-bookworm
# git lists what a project holds; Debian keeps one version of it at a time.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home rag-ls \
    && install -d -o rag-ls -g rag-ls -m 0700 /data
COPY --from=build /opt/rag-ls /opt/rag-ls
ENV PATH=/opt/rag-ls/bin:$PATH RAG_LS_HOME=/data RAG_LS_HTTP_HOSTS=localhost
USER 10001:10001
WORKDIR /work
VOLUME /data
EXPOSE 17080
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:17080/health', timeout=4)"]
# Whoever publishes the port decides who reaches it; each request needs a token in any case.
CMD ["rag-ls", "serve", "--http", "0.0.0.0:17080", "--behind-proxy"]
