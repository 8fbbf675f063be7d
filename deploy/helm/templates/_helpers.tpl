{{- define "image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- end }}

{{- define "container" -}}
image: {{ include "image" . }}
envFrom:
  - configMapRef: { name: device-messaging }
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "keysMount" -}}
- { name: secrets, mountPath: /secrets, readOnly: true }
{{- end }}

{{- define "fleetEnv" -}}
- { name: ADMIN_HOST, value: 0.0.0.0 }
- { name: ADMIN_TOKEN_FILE, value: /admin/ADMIN_TOKEN }
- { name: ADMIN_INSTANCES, value: 'device-messaging:8082' }
{{- end }}

{{- define "fleetMount" -}}
- { name: admin, mountPath: /admin, readOnly: true }
{{- end }}

{{- define "fleetVolume" -}}
- name: admin
  secret:
    secretName: {{ .Values.fleet.secretName }}
    defaultMode: 288
    items:
      - { key: ADMIN_TOKEN, path: ADMIN_TOKEN }
{{- end }}

{{- define "serviceSecrets" -}}
{{- if not .Values.identity.clientId }}
env:
  {{- if .Values.fleet.enabled }}
  {{- include "fleetEnv" . | nindent 2 }}
  {{- end }}
  - { name: HUB_SERVICE_CONNECTION_STRING_FILE, value: /secrets/HUB_SERVICE_CONNECTION_STRING }
  - { name: STORE_CONNECTION_STRING_FILE, value: /secrets/STORE_CONNECTION_STRING }
  - { name: BACKENDS_CLIENT_SECRET_FILE, value: /secrets/BACKENDS_CLIENT_SECRET }
volumeMounts:
  {{- if .Values.fleet.enabled }}
  {{- include "fleetMount" . | nindent 2 }}
  {{- end }}
  {{- include "keysMount" . | nindent 2 }}
{{- else }}
{{- if .Values.fleet.enabled }}
env:
  {{- include "fleetEnv" . | nindent 2 }}
volumeMounts:
  {{- include "fleetMount" . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- define "frontDoorKeys" -}}
env:
  - { name: HUB_SERVICE_CONNECTION_STRING_FILE, value: /secrets/HUB_SERVICE_CONNECTION_STRING }
  - { name: BACKENDS_CLIENT_SECRET_FILE, value: /secrets/BACKENDS_CLIENT_SECRET }
volumeMounts:
  {{- include "keysMount" . | nindent 2 }}
{{- end }}

{{- define "pod" -}}
serviceAccountName: device-messaging
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.podSpec }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Its dot is the label app.kubernetes.io/name. */}}
{{- define "spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: { app.kubernetes.io/name: {{ . }} } }
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: { app.kubernetes.io/name: {{ . }} } }
{{- end }}

{{- define "probes" -}}
livenessProbe:
  httpGet: { path: /livez, port: health }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /readyz, port: health }
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}
