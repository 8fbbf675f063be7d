import { createRequire } from 'node:module';

// Decodes a message with an AMQP library as it is installed. Arguments: the library, the bytes in hexadecimal digits.
const [library, hex] = process.argv.slice(2);
const { message } = createRequire(import.meta.url)(library);
process.stdout.write(`${JSON.stringify(message.decode(Buffer.from(hex, 'hex')).body)}\n`);
