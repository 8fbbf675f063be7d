import { graphOf, type Line, nodeHeight, nodeWidth } from './graph.ts';
import type { ObjectModel } from './world.ts';

interface ObjectGraphProps {
  readonly objects: readonly ObjectModel[];
  readonly chosen: string | null;
  readonly choose: (key: string) => void;
}

/** The references between object models as a picture; the table has the same as text. */
export function ObjectGraph({ objects, chosen, choose }: ObjectGraphProps) {
  const { nodes, lines, width, height } = graphOf(objects);
  if (nodes.length === 0) return <p class="quiet">No object model refers to another.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section class="graph" aria-label="References, as a picture" tabIndex={0}>
      <div class="drawing" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg width={width} height={height} aria-hidden="true">
          <defs>
            <marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0L8 4L0 8z" />
            </marker>
          </defs>
          {lines.map((line) => (
            <g key={`${line.name} ${line.from.key} ${line.to.key}`}>
              <path class="edge" d={curveOf(line)} marker-end="url(#tip)" />
              <text x={(line.from.x + nodeWidth + line.to.x) / 2} y={(line.from.y + line.to.y + nodeHeight) / 2 - 4}>
                {line.name}
              </text>
            </g>
          ))}
        </svg>
        {nodes.map(({ key, title, type, x, y }) => (
          <button
            key={key}
            type="button"
            class="node"
            aria-pressed={key === chosen}
            title={`${title}, ${type}`}
            style={{ left: `${x}px`, top: `${y}px`, width: `${nodeWidth}px`, height: `${nodeHeight}px` }}
            onClick={() => choose(key)}
          >
            {title}
            <span class="quiet">{type}</span>
          </button>
        ))}
      </div>
    </section>
  );
}

function curveOf({ from, to }: Line): string {
  const isForward = to.x > from.x;
  const [x1, y1] = [from.x + (isForward ? nodeWidth : 0), from.y + nodeHeight / 2];
  const [x2, y2] = [to.x + (isForward ? 0 : nodeWidth), to.y + nodeHeight / 2];
  const bend = (isForward ? 1 : -1) * 45;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
