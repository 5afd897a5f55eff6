import type { ControllerObserver } from './api.ts';

/** Several as one: metrics and traces see the same. */
export function joinObservers(observers: readonly ControllerObserver[]): ControllerObserver {
  const each =
    <Name extends keyof ControllerObserver>(name: Name) =>
    (...args: Parameters<ControllerObserver[Name]>): void => {
      for (const observer of observers) (observer[name] as (...facts: typeof args) => void)(...args);
    };
  return {
    queued: each('queued'),
    began: each('began'),
    ended: each('ended'),
    retried: each('retried'),
    request: each('request'),
    milestone: each('milestone'),
  };
}
