evening
controller
drift() {
  send PUT http://127.0.0.1:7070/openapi/v1/teams/team-a/regions/region-1/apps/42/services/6f3c1d5e8a9b40c7a2e4d6f8091b3c5d/ports/8080 '{"action":"close_outer"}'
}
for _ in 1 2; do
  drift
  portolan sync shop
  sleep 2
done
wait_for bash -c '[ "$(portolan events | grep -c drift.healed)" -ge 2 ]'
# --- page
drift
portolan sync shop
sleep 3
portolan status Component/shop-web | grep -i "report"
