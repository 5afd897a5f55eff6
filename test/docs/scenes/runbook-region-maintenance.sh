evening
controller
send POST "$control/regions/region-1" '{"status":"3"}'
wait_for bash -c 'portolan sync --all; portolan status | grep maintenance'
# The team of the platform enables it again while the page is read.
(sleep 6; send POST "$control/regions/region-1" '{"status":"1"}') > ../enabled.log 2>&1 &
