-- What a controller may do: it cannot change tables, and cannot change or delete the history. Run it as portolan_owner, after each
-- `portolan ledger migrate`. The commands that remove records or replace all of them use the role portolan_owner:
-- ledger compact, ledger restore and ledger copy. It is one transaction: replicas that run keep their privileges, and a fault in the
-- middle changes nothing.
BEGIN;
GRANT USAGE ON SCHEMA portolan TO portolan;
REVOKE ALL ON ALL TABLES IN SCHEMA portolan FROM portolan;
GRANT SELECT ON ALL TABLES IN SCHEMA portolan TO portolan;
GRANT INSERT ON portolan.history TO portolan;
GRANT INSERT, UPDATE ON portolan.fact, portolan.chain, portolan.snapshot, portolan.intent TO portolan;
GRANT INSERT, UPDATE, DELETE ON portolan.object TO portolan;
GRANT INSERT, UPDATE ON portolan.lease TO portolan;
GRANT INSERT, UPDATE, DELETE ON portolan.replica, portolan.command, portolan.session TO portolan;
GRANT INSERT, DELETE ON portolan.event TO portolan;
GRANT UPDATE ON portolan.meta TO portolan;
COMMIT;
