/** A line of the text format of Prometheus. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)/y;

/** @throws Error at a line that is not in the format, or a series that occurs twice */
export function parseMetrics(text: string): readonly Sample[] {
  const seen = new Set<string>();
  return text
    .split('\n')
    .filter((one) => one !== '' && !one.startsWith('#'))
    .map((one) => {
      const [, name = '', listed = '', value = ''] = line.exec(one) ?? [];
      const labels = labelsIn(listed);
      const series = `${name}{${listed}}`;
      const number = value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value);
      if (name === '' || Number.isNaN(number) || seen.has(series)) throw new Error(`no line of metrics: ${one}`);
      seen.add(series);
      return { name, labels, value: number };
    });
}

function labelsIn(listed: string): Record<string, string> {
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  while (label.lastIndex < listed.length) {
    const [, key, value] = label.exec(listed) ?? [];
    if (key === undefined || value === undefined) throw new Error(`no labels: ${listed}`);
    labels[key] = value;
  }
  return labels;
}

/** Sum of the samples with this name and these labels; undefined when there is none. */
export function sampleOf(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = samples.filter(
    (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
  );
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}
