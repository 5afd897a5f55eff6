# The project is on a disk of its own. Where a mount is not permitted, no file may grow instead.
mkdir disk
if [ "$HAS_MOUNTS" = yes ]; then mount -t tmpfs -o size=3m tmpfs disk; fi
cd disk
evening
cat >> portolan.yaml <<'YAML'
  settle: { targetState: 1s, creation: 1s, install: 1s }
YAML
sed -i 's#path: /#path: /new#' manifests/www.yaml
if [ "$HAS_MOUNTS" = yes ]; then
  mkdir log
  cat /dev/zero > log/other-program.log 2> /dev/null || true
  for command in 'apply --yes' plan 'ledger verify' 'ledger list' 'ledger compact --keep 720h'; do
    # shellcheck disable=SC2086
    output=$(ends_with 1 portolan $command 2>&1)
    grep 'ledger/full' <<< "$output" > /dev/null || { echo "$command: $output"; exit 1; }
  done
else
  size=$(( $(stat -c %s portolan.db) / 1024 ))
  mkdir log
  touch log/other-program.log
  (ulimit -f "$size"; portolan apply --yes > ../full.log 2>&1) || true
  grep -E 'ledger/full|ledger/io' ../full.log || { cat ../full.log; exit 1; }
fi
# --- page
ends_with 0 portolan plan --detailed-exitcode
# A running controller resumes by itself.
if [ "$HAS_MOUNTS" = yes ]; then
  git add manifests
  git commit --quiet --message "Serve the shop below /new"
  controller
  wait_for portolan commits "$(git rev-parse HEAD)"
  cat /dev/zero > log/other-program.log 2> /dev/null || true
  send PUT http://127.0.0.1:7070/openapi/v1/teams/team-a/regions/region-1/apps/42/services/6f3c1d5e8a9b40c7a2e4d6f8091b3c5d/ports/8080 '{"action":"close_outer"}'
  portolan sync shop
  wait_for bash -c 'portolan events | grep -i "full"'
  portolan events
  portolan attention || true
  rm log/other-program.log
  wait_for bash -c 'portolan events --type drift | grep drift.healed'
  ends_with 0 portolan attention
fi
