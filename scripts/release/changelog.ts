/** The section of a version in the changelog, without its title, and what it lacks, in sentences. */
export type Section = Readonly<{ notes: string; missing: readonly string[] }>;

export function sectionOf(changelog: string, version: string): Section {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((one) => one.startsWith(`${version} (`));
  if (section === undefined) return { notes: '', missing: [`CHANGELOG.md has no section ${version}.`] };
  const [title = '', ...lines] = section.split('\n');
  const text = lines.join('\n').trim();
  const parts = ['**Upgrade**', '**Roll back**'].filter((part) => !text.includes(part));
  return {
    notes: `${text}\n`,
    missing: [
      ...(/^\S+ \(\d{4}-\d\d-\d\d\)$/.test(title)
        ? []
        : [`CHANGELOG.md: “${title}” has no date as in “1.0.0 (2026-01-31)”.`]),
      ...(text.split(/^\*\*Upgrade\*\*/m)[0]?.trim() ? [] : [`CHANGELOG.md: ${version} says nothing of what is new.`]),
      ...parts.map((part) => `CHANGELOG.md: ${version} has no ${part}.`),
    ],
  };
}
