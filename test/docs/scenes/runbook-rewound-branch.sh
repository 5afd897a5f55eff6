evening
cat > manifests/api.yaml <<'YAML'
apiVersion: portolan/v1
kind: HttpGatewayRule
metadata: { name: shop-api }
spec: { application: shop, component: shop-web, port: 8080, domain: api.shop.example.com, path: / }
YAML
git add manifests
git commit --quiet --message "Add the domain of the API"
lost=$(git rev-parse HEAD)
cat >> portolan.yaml <<'YAML'
  controller: { pruneAfter: 0s }
YAML
controller
wait_for portolan commits "$lost"
git reset --quiet --hard HEAD~1
wait_for bash -c 'portolan events | grep "does not descend"'
