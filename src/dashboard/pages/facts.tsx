import type { ComponentChildren } from 'preact';

interface FactsProps {
  readonly title: string;
  readonly badge?: ComponentChildren;
  readonly facts: readonly (readonly [string, ComponentChildren])[];
}

/** A card of names and values. */
export function Facts({ title, badge, facts }: FactsProps) {
  return (
    <section class="card fact-card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {badge}
      </header>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
