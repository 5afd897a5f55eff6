evening
cat >> portolan.yaml <<'YAML'
  controller: { pruneAfter: 0s }
  prune: { maxObjects: 0 }
YAML
controller
wait_for portolan commits "$(git rev-parse HEAD)"
git rm --quiet manifests/www.yaml
git commit --quiet --message "Remove the domain"
wait_for bash -c 'portolan events | grep approval.needed'
