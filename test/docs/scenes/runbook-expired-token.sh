evening
controller
printf expired > ../token
kill -HUP $daemon
sleep 1
NEW_TOKEN=sandbox-token
portolan sync --all
wait_for bash -c 'portolan attention | grep "HTTP 401"'
