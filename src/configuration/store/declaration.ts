import type { KindDeclaration, SpecProblem } from '../../kinds/kind.ts';
import { documentOf } from '../../kinds/schema.ts';
import { storeSchema, type StoreSpec } from './spec.ts';
import type { Resource } from '../../model/resource.ts';
import { addressProblems } from '../addresses.ts';

export const storeDeclaration: KindDeclaration<StoreSpec> = {
  kind: 'Store',
  trust: 'operator',
  effects: [],
  specSchema: storeSchema,
  examples: [
    documentOf('Store', 'main', {
      url: 'https://store.example.com',
      domain: 'market-1',
      type: 'rainstore',
      accessKey: { env: 'STORE_ACCESS_KEY' },
    }),
    documentOf('Store', 'lab', {
      url: 'http://store.lab.example.com',
      domain: 'market-1',
      type: 'rainstore',
      accessKey: { file: '/run/secrets/store-key' },
      allowPlainHttp: true,
    }),
  ],
  check: checkStore,
};

function checkStore({ spec }: Resource<StoreSpec>): readonly SpecProblem[] {
  return addressProblems(spec.url, spec.allowPlainHttp === true, 'spec.url');
}
