#!/usr/bin/env bash
# Runs every finding, one after the other; fails when one is no longer as stated. Needs the npm registry.
cd "$(dirname "$0")"
failed=0
for script in *-*.sh; do
  printf '\n== %s\n' "$script"
  bash "$script" || failed=1
done
exit $failed
