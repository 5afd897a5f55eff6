evening
sed -i 's#path: /#path: /new#' manifests/www.yaml
git commit --quiet --all --message "Serve the shop below /new"
bad=$(git rev-parse HEAD)
portolan apply --yes --revision HEAD
