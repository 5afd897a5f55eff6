# Functions for the scenes. Each page runs in one shell.
export PORTOLAN_TOKEN=sandbox-token STORE_ACCESS_KEY=any
control=http://127.0.0.1:7070/_sandbox

# Waits until a command succeeds, for two minutes.
wait_for() {
  for _ in $(seq 120); do
    if "$@" > /dev/null 2>&1; then return 0; fi
    sleep 1
  done
  echo "this did not succeed: $*"
  return 1
}

# Fails unless a command ends with a code: ends_with 4 portolan plan
ends_with() {
  local wanted=$1 code=0
  shift
  "$@" || code=$?
  if [ "$code" != "$wanted" ]; then echo "$* ended with $code in place of $wanted"; return 1; fi
}

# Sends JSON to a path of the sandbox: send POST regions/region-1 '{"status":"3"}'
send() {
  node -e 'fetch(process.argv[1], { method: process.argv[2], headers: { "Content-Type": "application/json",
    Authorization: "sandbox-token" }, body: process.argv[3] }).then(async (answer) => {
    console.log(await answer.text()); process.exit(answer.ok ? 0 : 1) })' "$2" "$1" "$3"
}

# Writes the manifest of a rule of the shop: rule api
rule() {
  cat > "manifests/$1.yaml" <<YAML
apiVersion: portolan/v1
kind: HttpGatewayRule
metadata: { name: shop-$1 }
spec: { application: shop, component: shop-web, port: 8080, domain: $1.shop.example.com, path: / }
YAML
}

# Starts a sandbox, and a project with the manifests of its team on record: the state of an ordinary evening.
evening() {
  portolan sandbox --log-level error > sandbox.log 2>&1 &
  sandbox=$!
  wait_for node -e "fetch('$control/health').then((a) => process.exit(a.ok ? 0 : 1), () => process.exit(1))"
  printf sandbox-token > token
  portolan init shop --url http://127.0.0.1:7070 --auth-file "$PWD/token" --team team-a --region region-1 --app-id 42 > init.log
  cd shop
  rm manifests/shop.yaml
  portolan export --team team-a --to manifests > ../export.log 2>&1
  rule www
  sed -i 's/alias: GR6F3C1D8080, inner: true, outer: false/alias: GR6F3C1D8080, inner: true, outer: true/' manifests/shop.yaml
  portolan adopt -f manifests --yes > ../adopt.log 2>&1 || true
  portolan apply --yes > ../apply.log 2>&1
  git init --quiet --initial-branch=main .
  git add manifests .gitignore
  git commit --quiet --message "The shop"
}

# Starts the controller of the project, with the token of an admin.
controller() {
  export OPS_TOKEN=ops-token-of-the-test-0123456789abcdef
  cat >> portolan.yaml <<'YAML'
  server:
    tokens:
      - { name: ops, role: admin, value: { env: OPS_TOKEN } }
YAML
  portolan run -f . --log-level error > ../daemon.log 2>&1 &
  daemon=$!
  export PORTOLAN_SERVER=http://127.0.0.1:7780 PORTOLAN_SERVER_TOKEN=$OPS_TOKEN
  wait_for portolan status
}
