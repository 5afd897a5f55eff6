import { applicationDeclaration } from './application/declaration.ts';
import { componentDeclaration } from './component/declaration.ts';
import { httpGatewayRuleDeclaration } from './http-gateway-rule/declaration.ts';
import type { KindDeclaration } from './kind.ts';
import { platformDeclaration } from './platform/declaration.ts';
import { settingsDeclaration } from './settings/declaration.ts';
import { storeDeclaration } from './store/declaration.ts';
import { storeInstallDeclaration } from './store-install/declaration.ts';

/** Every kind of document there is, by `kind`. */
export const kindDeclarations: ReadonlyMap<string, KindDeclaration<unknown>> = new Map(
  [
    applicationDeclaration,
    storeInstallDeclaration,
    componentDeclaration,
    httpGatewayRuleDeclaration,
    platformDeclaration,
    storeDeclaration,
    settingsDeclaration,
  ].map((declaration) => [declaration.kind, declaration as KindDeclaration<unknown>]),
);
