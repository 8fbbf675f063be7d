import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { settingDocs } from '../../src/settings/config.ts';

const page = readFileSync('docs/identity.md', 'utf8');
const template = readFileSync('deploy/azure/routed-event-hub.bicep', 'utf8');
const dataActions = (text: string) => [...new Set(text.match(/Microsoft\.Devices\/IotHubs\/\w+\/\w+\/action/g))].sort();

describe('the commands of docs/identity.md', () => {
  const commands = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, text = '']) => text);

  it('use no variable that they have not set, but for the names that the reader has', () => {
    const all = commands.join('\n');
    const set = [...all.matchAll(/^\s*(?:for )?([A-Z_]+)(?:=| in )/gm)].map(([, name]) => name);
    const used = new Set([...all.matchAll(/\$\{?([A-Z_]+)/g)].map(([, name]) => name));
    const given = ['GROUP', 'HUB', 'NAMESPACE', 'SERVICE_OBJECT_ID'];
    expect([...used].filter((name) => !set.includes(name)).sort()).toEqual(given);
  });
});

describe('the template of deploy/azure', () => {
  it('gives the roles of the page, each by its id', () => {
    const ids = Object.fromEntries([...template.matchAll(/^ {2}(\w+): '([\da-f-]{36})'$/gm)].map(([, a, b]) => [a, b]));
    const named = Object.keys(ids).map((name) => name.replace(/[A-Z]/g, (letter) => ` ${letter}`).toLowerCase());
    const inPage = (role: string) => page.toLowerCase().includes(role);
    expect(named.filter((role) => !inPage(role))).toEqual([]);
    expect(named).toHaveLength(5);
    for (const name of Object.keys(ids)) expect(template).toContain(`roles.${name}`);
  });
  it('gives the smallest role for replies and methods that the page tells', () => {
    expect(dataActions(template)).toEqual(dataActions(page));
    expect(dataActions(template)).toHaveLength(2);
  });
  it('puts out settings that there are', () => {
    const names = settingDocs().map(({ env }) => env);
    const outputs = [...template.matchAll(/^output (\w+) /gm)].map(([, name = '']) => name);
    expect(outputs.filter((name) => !names.includes(name))).toEqual([]);
    expect(outputs).toContain('HUB_EVENTS_NAMESPACE');
  });
  it('has no key, and lets nobody in with one', () => {
    expect(template).not.toMatch(/listKeys|connectionString|authorizationRules/i);
    expect(template.match(/disableLocalAuth: true/g)).toHaveLength(2);
    expect(template).toContain('allowSharedKeyAccess: false');
  });
});
