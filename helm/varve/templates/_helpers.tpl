{{- define "varve.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "varve.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Takes (dict "root" $ "component" NAME). */}}
{{- define "varve.labels" -}}
{{ include "varve.selector" .root }}
app.kubernetes.io/component: {{ .component }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "varve.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "varve.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "varve.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end -}}

{{/* The stages of streams/stages/catalog.py (files/stages.yaml), each with stageDefaults and what `stages` says of it. */}}
{{- define "varve.stages" -}}
{{- $stages := dict -}}
{{- range $name, $known := .Files.Get "files/stages.yaml" | fromYaml -}}
{{- $own := index $.Values.stages $name | default dict -}}
{{- $stage := mergeOverwrite (deepCopy $.Values.stageDefaults) (deepCopy $own) -}}
{{- $_ := set $stage "source" $known.source -}}
{{- $_ := set $stages $name $stage -}}
{{- end -}}
{{- toYaml $stages -}}
{{- end -}}

{{/* A file of rules. Nobody misses workers that this release does not run: a stage that is off is off on purpose.
Takes (dict "root" $ "path" PATH). */}}
{{- define "varve.rules" -}}
{{- $ := .root -}}
{{- $off := list -}}
{{- range $name, $stage := include "varve.stages" $ | fromYaml -}}
{{- if not $stage.enabled }}{{ $off = append $off (printf "component=%q" $name) }}{{ end -}}
{{- end -}}
{{- if not $.Values.service.enabled }}{{ $off = append $off "component=\"service\"" }}{{ end -}}
{{- $rules := $.Files.Get .path | fromYaml -}}
{{- range $group := $rules.groups -}}
{{- $kept := list -}}
{{- range $rule := $group.rules -}}
{{- if eq (get $rule "alert") "VarveStageWithoutWorkers" -}}
{{- $missed := list -}}
{{- range $line := splitList "\n" $rule.expr -}}
{{- if not (has (regexFind "component=\"\\w+\"" $line) $off) }}{{ $missed = append $missed (trimPrefix "or " $line) }}{{ end -}}
{{- end -}}
{{- $_ := set $rule "expr" (join "\nor " $missed) -}}
{{- end -}}
{{- if $rule.expr }}{{ $kept = append $kept $rule }}{{ end -}}
{{- end -}}
{{- $_ := set $group "rules" $kept -}}
{{- end -}}
{{- toYaml $rules -}}
{{- end -}}

{{/* A value as an environment variable holds it: Helm reads every number as a float, and would print 1e+06. */}}
{{- define "varve.text" -}}
{{- if kindIs "float64" . -}}
{{- if eq (floor .) . -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- else if or (kindIs "slice" .) (kindIs "map" .) -}}
{{ toJson . }}
{{- else -}}
{{ . }}
{{- end -}}
{{- end -}}

{{- define "varve.bootstrap" -}}
{{- if .Values.kafka.bundled.enabled -}}
{{ include "varve.fullname" . }}-kafka:9092
{{- else -}}
{{ .Values.kafka.bootstrap }}
{{- end -}}
{{- end -}}

{{/* The environment of every process. Takes (dict "root" $ "config" DICT "secrets" DICT): its own settings, which go before those of
all, and all the secrets that it is given (varve.secrets). */}}
{{- define "varve.env" -}}
{{- $ := .root -}}
{{- $set := dict
  "VARVE_KAFKA__BOOTSTRAP" (include "varve.bootstrap" $)
  "VARVE_KAFKA__TOPIC_PREFIX" $.Values.kafka.topicPrefix
  "VARVE_KAFKA__PARTITIONS" $.Values.kafka.partitions
  "VARVE_KAFKA__REPLICATION_FACTOR" $.Values.kafka.replicationFactor
  "VARVE_KAFKA__MIN_INSYNC_REPLICAS" $.Values.kafka.minInsyncReplicas
  "VARVE_STORE__KIND" "server"
  "VARVE_STORE__URL" (ternary (printf "http://%s-qdrant:6333" (include "varve.fullname" $)) $.Values.qdrant.url $.Values.qdrant.bundled.enabled)
  "VARVE_STORE__GRPC_PORT" $.Values.qdrant.grpcPort
  "VARVE_DELIVERY__DRAIN_TIMEOUT_S" $.Values.drainSeconds
  "VARVE_METRICS_HOST" "0.0.0.0"
  "VARVE_METRICS_PORT" 9100
  "VARVE_SERVICE__HOST" "0.0.0.0"
  "VARVE_SERVICE__PORT" 8080
  "VARVE_DATA" "/data"
  "VARVE_LOG__FORMAT" "json"
-}}
{{- if $.Values.redis.bundled.enabled -}}
{{- $_ := set $set "VARVE_REDIS__URL" (printf "redis://%s-redis:6379/0" (include "varve.fullname" $)) -}}
{{- else if $.Values.redis.url -}}
{{- $_ := set $set "VARVE_REDIS__URL" $.Values.redis.url -}}
{{- end -}}
{{- if $.Values.staticMembership.enabled -}}
{{- $_ := set $set "VARVE_KAFKA__SESSION_TIMEOUT_S" $.Values.staticMembership.sessionTimeoutSeconds -}}
{{- end -}}
{{- range $name, $value := mergeOverwrite (deepCopy $.Values.config) (deepCopy .config) $set }}
- name: {{ $name }}
  value: {{ include "varve.text" $value | quote }}
{{- end }}
{{- range $name, $from := .secrets }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $from.name }}
      key: {{ $from.key }}
{{- end }}
{{- end -}}

{{/* The secrets of all and a process's own, which go before them. Takes (dict "root" $ "secrets" DICT). */}}
{{- define "varve.secrets" -}}
{{- toYaml (mergeOverwrite (deepCopy .root.Values.secrets) (deepCopy .secrets)) -}}
{{- end -}}

{{- define "varve.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "varve.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
runAsUser: 10001
capabilities:
  drop: [ALL]
{{- end -}}

{{/* The head of a pod's specification. Takes (dict "root" $ "component" NAME "placed" STAGE-OR-SERVICE "spread" true). What is not spread is a
job, which may run before the release's account is there. */}}
{{- define "varve.pod" -}}
{{- $ := .root -}}
{{- if .spread }}
serviceAccountName: {{ include "varve.serviceAccount" $ }}
{{- end }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- include "varve.podSecurity" $ | nindent 2 }}
{{- with $.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .placed.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .placed.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .placed.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if and $.Values.topologySpread.enabled .spread }}
topologySpreadConstraints:
  {{- $labels := printf "%s\napp.kubernetes.io/component: %s" (include "varve.selector" $) .component }}
  {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: {{ $.Values.topologySpread.whenUnsatisfiable }}
    labelSelector:
      matchLabels:
        {{- $labels | nindent 8 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* What the health page of every process answers: /healthz as soon as it turns, /readyz when it has recovered and what it needs is there. */}}
{{- define "varve.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: metrics}
  periodSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: metrics}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: metrics}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end -}}

{{- define "varve.podMeta" -}}
labels:
  {{- include "varve.labels" . | nindent 2 }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
