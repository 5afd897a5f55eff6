import type { Condition, ConditionType } from '../../model/status.ts';
import { LIMIT_DEFAULT, LIMIT_MAX } from '../paging.ts';

/** Parameters that mean the same for every list. */
export const pageQuery = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: LIMIT_MAX,
    default: LIMIT_DEFAULT,
    description: 'At most so many.',
  },
  cursor: { type: 'string', maxLength: 1024, description: 'nextCursor of the part before.' },
} as const;

export const applicationQuery = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  description: 'Only of the application of this name.',
} as const;

export const conditionQuery = {
  type: 'array',
  maxItems: 8,
  items: {
    type: 'string',
    maxLength: 64,
    pattern: '^(Ready|Reconciling|Stalled|Healthy)(!?=(True|False|Unknown))?$',
  },
  description: 'Only those with this condition: Ready=True, Ready!=True, or Ready, which is Ready=True. All must hold.',
} as const;

export const labelQuery = {
  type: 'array',
  maxItems: 16,
  items: { type: 'string', minLength: 1, maxLength: 1300 },
  description: 'Only those with this label: env=prod, or env for any value. All must hold.',
} as const;

/** What a list is to have. */
export interface Filter {
  readonly conditions: readonly {
    readonly type: ConditionType;
    readonly status: Condition['status'];
    readonly isNot: boolean;
  }[];
  readonly labels: readonly { readonly key: string; readonly value: string | undefined }[];
}

/** @param conditions, labels as the two schemas above let them through. */
export function filterOf(conditions: readonly string[] = [], labels: readonly string[] = []): Filter {
  return {
    conditions: conditions.map((text) => {
      const [type = '', status = 'True'] = text.split(/!?=/);
      return { type: type as ConditionType, status: status as Condition['status'], isNot: text.includes('!=') };
    }),
    labels: labels.map((text) => {
      const at = text.indexOf('=');
      return at === -1 ? { key: text, value: undefined } : { key: text.slice(0, at), value: text.slice(at + 1) };
    }),
  };
}
