evening
sed -i 's#path: /#path: /new#' manifests/www.yaml
