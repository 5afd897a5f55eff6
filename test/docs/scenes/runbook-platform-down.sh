evening
controller
kill $sandbox
wait $sandbox || true
portolan sync --all
wait_for bash -c "portolan events | grep application.failed"
# The team of the platform starts it again while the page is read.
(sleep 6; exec portolan sandbox --log-level error) > ../sandbox2.log 2>&1 &
