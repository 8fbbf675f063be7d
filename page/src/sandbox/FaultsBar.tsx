import { type Faults, inWords } from './faults.ts';

/** The faults that are on: in sight on every view, each with a button that ends it. */
export function FaultsBar({ faults: { active, clear, clearAll } }: { readonly faults: Faults }) {
  return (
    <section class="faults-bar" aria-label="Faults that are on" aria-live="polite" hidden={active.length === 0}>
      {active.map((one) => (
        <span key={`${one.place} ${one.id}`} class="chip">
          ⚡ {inWords(one)} <span class="quiet">struck {one.struck}</span>
          {one.until !== undefined && <span class="quiet"> until {one.until.slice(11, 19)}</span>}{' '}
          <button
            type="button"
            aria-label={`Turn off: ${inWords(one)}`}
            onClick={() => void clear(one).catch(() => {})}
          >
            off
          </button>
        </span>
      ))}
      {active.length > 1 && (
        <button type="button" onClick={() => void clearAll().catch(() => {})}>
          all off
        </button>
      )}
    </section>
  );
}
