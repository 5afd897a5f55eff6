-- Roles and schema of a ledger in PostgreSQL. Run it once, as an administrator, in the database of the ledger. Then:
--   1. give both roles a way to log in: ALTER ROLE portolan PASSWORD '…', or a client certificate;
--   2. create the tables: portolan ledger migrate --ledger postgres://portolan_owner@HOST/DATABASE
--   3. run grants.sql as portolan_owner, now and after each migration.
-- It is one transaction: a fault in the middle changes nothing.
BEGIN;
CREATE ROLE portolan_owner LOGIN;
CREATE ROLE portolan LOGIN;
CREATE SCHEMA portolan AUTHORIZATION portolan_owner;
GRANT USAGE ON SCHEMA portolan TO portolan;
COMMIT;
