evening
cat > manifests/db.yaml <<'YAML'
apiVersion: portolan/v1
kind: StoreInstall
metadata: { name: shop-db }
spec: { application: shop, store: main, model: { id: 0a1b2c, version: "8.0.36" }, build: true }
YAML
cat >> portolan.yaml <<'YAML'
  settle: { targetState: 1s, creation: 1s, install: 1s }
---
apiVersion: portolan/v1
kind: Store
metadata: { name: main }
spec: { url: https://store.example.com, domain: market-1, type: rainstore, accessKey: { env: STORE_ACCESS_KEY } }
YAML
sed -i 's/^  auth:/  dialect: documented\n  auth:/' portolan.yaml
send POST "$control/faults" '[{"operation":"install","times":1,"fault":{"type":"drop","when":"after"}}]'
ends_with 4 portolan apply --yes --first-install default/team-a/region-1/42
sleep 2
ends_with 4 portolan apply --yes
# --- page
ends_with 0 portolan apply --yes
node -e "fetch('$control/state').then((answer) => answer.json()).then(({ installs }) => process.exit(installs.length === 1 ? 0 : 1))"
