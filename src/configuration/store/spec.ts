import { boolean, objectOf, string, type TypeOf } from '../../model/schema-words.ts';
import { URL_RULES } from '../../kinds/schema.ts';
import { secretReference } from '../platform/spec.ts';

const STORE_WORD = {
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$',
  'x-expected': 'letters, digits, _, . and -, starting with a letter or digit',
};

/** JSON Schema of `spec:` of the operator's `kind: Store`. Manifests name it, but cannot read its key or choose its address. */
export const storeSchema = objectOf('An application store that StoreInstall manifests may name.', {
  url: string('Address of the store from the platform: `market_url`.', URL_RULES),
  domain: string('Domain of the store: `market_domain`.', { ...STORE_WORD, maxLength: 128 }),
  type: string('Type of the store: `market_type`.', { ...STORE_WORD, maxLength: 64 }),
  'accessKey?': secretReference('Access token of the store, by reference: `market_access_key`.'),
  'allowPlainHttp?': boolean('Allow http:// to a store on another machine. The access key is then sent unencrypted.'),
});

/** The spec with its defaults. */
export type StoreSpec = TypeOf<typeof storeSchema>;
