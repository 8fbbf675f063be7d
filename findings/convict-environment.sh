#!/usr/bin/env bash
# convict: values of environment variables are coerced before they are validated, and strict validation does not see what was lost. For a Boolean
# everything but "false" is true, "0", "no" and nothing at all too; whole numbers are cut at the first character that is no digit.
. "$(dirname "$0")/common.sh"
packages convict@6.2.5
seen <<'JS'
import convict from 'convict';

for (const [format, text] of [
  [Boolean, '0'],
  [Boolean, 'off'],
  [Boolean, ''],
  ['int', '1e3'],
  ['nat', '10.9'],
  ['port', '8080x'],
  [Number, '12h'],
]) {
  const setting = { format, default: format === Boolean ? false : 1, env: 'SETTING' };
  const config = convict({ setting }, { env: { SETTING: text } });
  config.validate({ allowed: 'strict' });
  console.log(`${format.name ?? format} from "${text}": ${config.get('setting')}`);
}
JS
expected <<'TEXT'
Boolean from "0": true
Boolean from "off": true
Boolean from "": true
int from "1e3": 1
nat from "10.9": 10
port from "8080x": 8080
Number from "12h": 12
TEXT
