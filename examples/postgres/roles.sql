-- Roles and schema of a ledger in PostgreSQL. Run it once, as an administrator who may create roles, in the database of the ledger. Then:
--   1. give both roles a way to log in: \password portolan_owner and \password portolan, or client certificates;
--   2. create the tables: portolan ledger migrate --ledger postgres://portolan_owner@HOST/DATABASE
--   3. run grants.sql as portolan_owner, now and after each migration.
-- It is one transaction: a fault in the middle changes nothing. Pass --set ON_ERROR_STOP=1 to psql, which otherwise ends with 0 then.
BEGIN;
CREATE ROLE portolan_owner LOGIN;
CREATE ROLE portolan LOGIN;
-- Keeps the other connections of the server for others, whatever happens: 6 for each replica and two more, 3 for each replica that the
-- server still counts, and 6 for each command beside them. For 3 replicas and 2 commands:
-- ALTER ROLE portolan CONNECTION LIMIT 51;
-- Without it, an administrator who is not a superuser cannot create a schema for this role.
GRANT portolan_owner TO CURRENT_USER;
CREATE SCHEMA portolan AUTHORIZATION portolan_owner;
GRANT USAGE ON SCHEMA portolan TO portolan;
COMMIT;
