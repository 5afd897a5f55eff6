import { applicationDeclaration } from './application/declaration.ts';
import { componentDeclaration } from './component/declaration.ts';
import { httpGatewayRuleDeclaration } from './http-gateway-rule/declaration.ts';
import type { Declarations, KindDeclaration } from './kind.ts';
import { operatorDeclarations } from './operator-declarations.ts';
import { storeInstallDeclaration } from './store-install/declaration.ts';

/** Every kind of document there is, by `kind`. */
export const kindDeclarations: Declarations = new Map([
  ...[applicationDeclaration, storeInstallDeclaration, componentDeclaration, httpGatewayRuleDeclaration].map(
    (declaration) => [declaration.kind, declaration as KindDeclaration<unknown>] as const,
  ),
  ...operatorDeclarations,
]);
