evening
controller
NEW_TOKEN=sandbox-token
