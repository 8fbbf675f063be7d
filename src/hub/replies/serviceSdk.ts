/**
 * What `azure-iothub` needs for a message with properties, and for its cures, but does not export at its entry: the one
 * place that reaches into its folders.
 */
export { Amqp as AmqpConnection } from 'azure-iothub/dist/common-amqp/amqp.js';
export * as errors from 'azure-iothub/dist/common-core/errors.js';
export { Message } from 'azure-iothub/dist/common-core/message.js';
