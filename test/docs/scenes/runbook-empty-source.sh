evening
controller
git rm --quiet -r manifests
mkdir -p manifests
git commit --quiet --message "Move the manifests"
wait_for bash -c 'portolan attention | grep "names nothing"'
