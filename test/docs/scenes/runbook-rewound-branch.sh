evening
rule api
git add manifests
git commit --quiet --message "Add the domain of the API"
newest=$(git rev-parse HEAD)
cat >> portolan.yaml <<'YAML'
  controller: { pruneAfter: 0s }
YAML
controller
wait_for portolan commits "$newest"
git reset --quiet --hard HEAD~1
wait_for bash -c 'portolan events | grep "does not descend"'
# --- page
has_rule() {
  node -e "fetch('$control/state').then((answer) => answer.json()).then(({ rules }) =>
    process.exit(rules.some(({ domain }) => domain === 'api.shop.example.com') ? 0 : 1))"
}
[ "$(git rev-parse HEAD)" = "$newest" ]
has_rule
# The same again, now on purpose.
git reset --quiet --hard HEAD~1
wait_for bash -c 'portolan attention | grep "does not descend"'
# --- otherwise
ends_with 1 has_rule
