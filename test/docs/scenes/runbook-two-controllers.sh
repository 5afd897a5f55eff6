evening
controller
# --- page
cp portolan.db before.db
unset PORTOLAN_SERVER
ends_with 0 portolan adopt -f manifests --yes --ledger other.db
cat > manifests/api.yaml <<'YAML'
apiVersion: portolan/v1
kind: HttpGatewayRule
metadata: { name: shop-api }
spec: { application: shop, component: shop-web, port: 8080, domain: api.shop.example.com, path: / }
YAML
# Another ledger makes a rule, and then its controller is stopped.
ends_with 0 portolan apply --yes --ledger other.db
cmp portolan.db before.db
# --- otherwise
ends_with 0 portolan apply --yes
