-- Gives both roles of ../../postgres/roles.sql their passwords, from the environment of psql.
\getenv owner PORTOLAN_OWNER_PASSWORD
\getenv controller PORTOLAN_DATABASE_PASSWORD
ALTER ROLE portolan_owner PASSWORD :'owner';
ALTER ROLE portolan PASSWORD :'controller';
