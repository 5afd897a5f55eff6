evening
mkdir ../backup
cat >> portolan.yaml <<'YAML'
  settle: { targetState: 1s, creation: 1s, install: 1s }
YAML
# No file may grow beyond the size of the ledger, as on a disk that runs full.
sed -i 's#path: /#path: /new#' manifests/www.yaml
size=$(( $(stat -c %s portolan.db) / 1024 ))
(ulimit -f "$size"; portolan apply --yes > ../full.log 2>&1) || true
grep -E 'ledger/full|disk is full|disk I/O error|disk of the ledger' ../full.log || { cat ../full.log; exit 1; }
# --- page
ends_with 0 portolan plan --detailed-exitcode
