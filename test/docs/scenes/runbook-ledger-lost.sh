evening
mkdir ../backup
portolan ledger backup ../backup/portolan.db
rm portolan.db portolan.db-*
ends_with 4 portolan apply --yes 2> ../lost.log
grep 'ledger/missing' ../lost.log
# --- page
ends_with 0 portolan apply --yes
# There is no backup any more.
rm portolan.db portolan.db-* ../backup/portolan.db 2> ../rm.log || true
[ ! -e portolan.db ] && [ -e portolan.db.serial ]
ends_with 4 portolan apply --yes
# --- otherwise
ends_with 0 portolan apply --yes
