import { planPartSchemas } from '../model/plan.ts';
import { planSchema, planSummarySchema, scopePlanSchema, unobservedScopeSchema } from './document.ts';
import { refusalSchema } from './result.ts';

/** The schemas that plans are made of, by the names that references have. */
export const planSchemas = {
  ...planPartSchemas,
  ScopePlan: scopePlanSchema,
  UnobservedScope: unobservedScopeSchema,
  Refusal: refusalSchema,
  PlanSummary: planSummarySchema,
  Plan: planSchema,
};
