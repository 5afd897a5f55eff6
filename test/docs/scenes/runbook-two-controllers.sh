evening
controller
# --- page
cp portolan.db before.db
unset PORTOLAN_SERVER
ends_with 0 portolan adopt -f manifests --yes --ledger other.db
rule api
# Another ledger makes a rule, and then its controller is stopped.
ends_with 0 portolan apply --yes --ledger other.db
cmp portolan.db before.db
# --- otherwise
ends_with 0 portolan apply --yes
