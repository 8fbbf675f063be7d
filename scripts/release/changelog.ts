/**
 * The section of a version in the changelog, without its title; undefined when there is none.
 * @throws Error when a part that operators need is missing
 */
export function sectionOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((one) => one.startsWith(`${version} (`));
  if (section === undefined) return undefined;
  const [title = '', ...lines] = section.split('\n');
  if (!/^\S+ \(\d{4}-\d\d-\d\d\)$/.test(title))
    throw new Error(`CHANGELOG.md: “${title}” has no date as in “1.0.0 (2026-01-31)”`);
  const text = lines.join('\n').trim();
  for (const part of ['**Upgrade**', '**Roll back**'])
    if (!text.includes(part)) throw new Error(`CHANGELOG.md: ${version} has no ${part}`);
  return `${text}\n`;
}
