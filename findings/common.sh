# For the scripts of this folder: a temporary folder, pinned packages, a program, and what it has to print.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# packages NAME@VERSION …
packages() {
  cp "$here"/*.mjs .
  echo '{ "private": true, "type": "module" }' >package.json
  npm install --silent --no-audit --no-fund --no-update-notifier "$@"
  echo "node $(node --version) with $*"
}

# seen VARIABLE=VALUE …, with a program on standard input: runs it and shows what it prints
seen() {
  cat >program.mjs
  env "$@" timeout 120 node program.mjs 2>errors >output || { cat output errors; exit 1; }
  cat output
}

# expected, with the lines on standard input: fails when the program has printed others
expected() {
  if diff - output; then echo 'as stated'; else echo 'NO LONGER as stated (left: stated, right: seen)'; exit 1; fi
}
