import type { Resource } from '../../model/resource.ts';
import { addressProblems } from '../addresses.ts';
import type { SpecProblem } from '../../kinds/kind.ts';
import type { StoreSpec } from './spec.ts';

export function checkStore({ spec }: Resource<StoreSpec>): readonly SpecProblem[] {
  return addressProblems(spec.url, spec.allowPlainHttp === true, 'spec.url');
}
