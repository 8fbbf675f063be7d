/** Of lines, on light and on dark paper; people who see few colours can tell them apart. The dashes help to do so. */
const colours = [
  ['#0072b2', '#56b4e9', ''],
  ['#d55e00', '#ff9a52', ''],
  ['#008a64', '#3ddbac', '6 3'],
  ['#b3478a', '#f0a6d0', '2 3'],
  ['#8a6d00', '#f0d45c', '9 3 2 3'],
  ['#555555', '#c0c0c0', '4 4'],
] as const;

/** The most lines of a chart. */
export const mostLines = colours.length;

const lines = colours
  .map(([light, , dashes], index) => `.c${index}{stroke:${light}${dashes && `;stroke-dasharray:${dashes}`}}`)
  .join('');
const fills = colours.map(([light], index) => `.f${index}{fill:${light};fill-opacity:.75}`).join('');
const darkLines = colours.map(([, dark], index) => `.c${index}{stroke:${dark}}.f${index}{fill:${dark}}`).join('');

/** No variables: not every program that shows SVG knows them. */
export const style = [
  '.paper{fill:#ffffff}.title{fill:#1f2328;font-size:15px;font-weight:600}.text{fill:#424a53;font-size:12px}.small{font-size:11px}',
  '.grid{stroke:#d8dee4;fill:none}.axis{stroke:#6e7781;fill:none}.shade{fill:#d1242f;fill-opacity:.1}.bar{fill:#d1242f}',
  `.line{fill:none;stroke-width:1.8;stroke-linejoin:round}${lines}${fills}`,
  '@media (prefers-color-scheme:dark){.paper{fill:#0d1117}.title{fill:#f0f6fc}.text{fill:#c9d1d9}.grid{stroke:#30363d}.axis{stroke:#8b949e}',
  `.shade{fill:#ff7b72;fill-opacity:.16}.bar{fill:#ff7b72}${darkLines}}`,
].join('');
