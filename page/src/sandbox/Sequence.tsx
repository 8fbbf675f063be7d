import { type Lane, laneNames, lanesOf, type Step, shownMs } from '../flow/steps.ts';

interface SequenceProps {
  readonly steps: readonly Step[];
  /** Position of an entry. */
  readonly chosen: number | undefined;
  readonly choose: (position: number) => void;
  /** Lanes that are called otherwise. */
  readonly names: { readonly [lane in Lane]?: string };
}

const marks: Readonly<Record<Step['is'], string>> = {
  sent: '',
  answered: '',
  failed: '✗ ',
  lost: '✗ ',
  waited: '⏳ ',
  struck: '⚡ ',
};

/** The picture of a flow: a lane for each party, an arrow for each thing that was said, from the top down. */
export function Sequence({ steps, chosen, choose, names }: SequenceProps) {
  const lanes = lanesOf(steps);
  const called = { ...laneNames, ...names };
  const columns = { gridTemplateColumns: `4.5rem repeat(${2 * lanes.length}, minmax(0, 1fr))` };
  /** The grid line in the middle of a lane. */
  const middle = (lane: Lane) => 3 + 2 * lanes.indexOf(lane);

  function place({ from, to }: Step): { style: Readonly<Record<string, string>>; way: string } {
    const [a, b] = [middle(from ?? 'service'), to === undefined ? undefined : middle(to)];
    if (b === undefined) {
      const isLast = from === lanes.at(-1) && lanes.length > 1;
      return { style: { gridColumn: isLast ? `${a - 3} / ${a + 1}` : `${a - 1} / ${a + 3}` }, way: 'note' };
    }
    return { style: { gridColumn: `${Math.min(a, b)} / ${Math.max(a, b)}` }, way: a < b ? 'right' : 'left' };
  }

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section class="sequence" aria-label="The way of the message" tabIndex={0}>
      <div class="picture" style={{ '--lanes': lanes.length }}>
        <div class="lanes" style={columns} aria-hidden="true">
          <span />
          {lanes.map((lane) => (
            <span key={lane} class="lane">
              {called[lane]}
            </span>
          ))}
        </div>
        <ol>
          {steps.map((step, index) => {
            const { from, to, label, atMs, is, entry } = step;
            const { style, way } = place(step);
            const parties = `${from ? called[from] : ''}${to ? ` to ${called[to]}` : ''}: `;
            const content = (
              <>
                <span class="unseen">{parties}</span>
                <span class="label">
                  {marks[is]}
                  {label}
                </span>
              </>
            );
            return (
              <li key={index} style={columns} class={`step step-${is}`}>
                <span class="at quiet">{shownMs(atMs)}</span>
                {entry ? (
                  <button
                    type="button"
                    class={`arrow ${way}`}
                    style={style}
                    title={`${parties}${label}`}
                    aria-pressed={entry.position === chosen}
                    onClick={() => choose(entry.position)}
                  >
                    {content}
                  </button>
                ) : (
                  <span class={`arrow ${way}`} style={style} title={label}>
                    {content}
                  </span>
                )}
              </li>
            );
          })}
        </ol>
      </div>
    </section>
  );
}
