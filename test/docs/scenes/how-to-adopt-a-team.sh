evening
rm -rf manifests .git portolan.db*
