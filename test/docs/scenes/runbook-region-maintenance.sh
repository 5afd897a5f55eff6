evening
controller
send POST "$control/regions/region-1" '{"status":"3"}'
wait_for bash -c 'portolan sync --all; portolan status | grep maintenance'
