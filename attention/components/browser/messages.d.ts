// Written by python -m tests.components.declarations, from the types in Python.

export interface ChartHeader {
  label: string
  height: number
  data: unknown[]
  layout: Record<string, unknown>
}

export interface QueryAndStage {
  query: number
  stage: string
}

export interface SelectionHeader {
  values: QueryAndStage
  defaults: QueryAndStage
  turn: number
}

export interface ComparisonHeader {
  size: number
  names: string[]
  changed: boolean[]
  both: boolean[]
  absent: boolean[][]
  titles: string[]
  selection: SelectionHeader
}

export interface CopyLinkHeader {
  title: string
  caption: string
  paper: string
  query: string
  figures: string[]
  task: string[]
  embedded: boolean
}

export interface ExamplesHeader {
  words: string
  texts: string[]
  gone: number[] | null
}

export interface FocusButtonHeader {
  words: string
  field: string
}

export interface HeadGridHeader {
  heads: number
  rows: number
  columns: number
  block: number
  tokens: number
  saturated: boolean
  chosen: number
  layerNames: string[]
  earned: string[]
}

export interface HeadViewHeader {
  tokens: string[]
  known: boolean[]
  heads: number
  whole: boolean
  active: number[]
  query: number
  selection: SelectionHeader
}

export interface LayerLinesHeader {
  tokens: string[]
  layers: string[]
  query: number
  byHead: boolean
  selection: SelectionHeader
}

export interface Points {
  places: number[]
  true: number[]
  x: number[]
  y: number[]
}

export interface Curve {
  name: string
  values: number[]
  seconds: number[]
  test: number
}

export interface LearningHeader {
  tokens: string[]
  keys: string[]
  truth: number[]
  ringed: number
  beside: boolean
  points: Points | null
  layers: number
  heads: number
  steps: number[]
  last: number
  losses: Curve[]
  shares: Curve[]
  titles: string[]
  right: string
  measure: string
  telling: number
  measured: number[][]
  live: boolean
  plays: boolean
  brief: boolean
}

export interface LightsHeader {
  selectors: Record<string, string>
  figure: string
  chapter: number
}

export interface MaskGridHeader {
  tokens: string[]
  keys: string[]
  mask: number[][]
}

export interface Paint {
  cells: [number, number][]
  allowed: boolean
}

export interface MatrixHeader {
  name: string
  rows: number
  columns: number
  rowNames: string[]
  columnNames: string[]
  kind: string
  lights: string
  masked: boolean
  most: number
  hidden: boolean
  whole: boolean
}

export interface MatricesHeader {
  parts: MatrixHeader[]
  joins: string[]
  chosen: [number, number] | null
  hidden: boolean
  pickable: boolean
  asked: [number, number | null] | null
  inFull: boolean
  written?: number
}

export interface Layer {
  name: string
  sequences: [number, number]
  first: number
  rows: number
  columns: number
}

export interface Answer {
  word: string
  before: string
  now: string
}

export interface Bars {
  title: string
  texts: string[]
  shares: number[]
}

export interface ModelWindowHeader {
  sequences: string[][]
  queries: number[]
  layers: Layer[]
  heads: number
  columns: number
  lenses: [string, string][]
  legends: Record<string, string>
  lens: string
  sign: number
  chosen: number
  off: number[]
  needed: number[]
  greatest: number
  least: number
  pair: number
  linkWords: string
  linkLegend: string
  told: string[]
  offWords: string
  answer: Answer | null
  bars: Bars[]
  acts: [string, string][]
  erased: number
  whole: number[]
  wholeWords: string
}

export interface NextPiecesHeader {
  texts: string[]
  shares: number[]
  trained: number[]
}

export interface NumberGridHeader {
  name: string
  cells: string[][]
  wrong: string
  row: number | null
  column: number | null
  resizable: boolean
  most: number
}

export interface SwitchHeader {
  words: string[]
  size: number
}

export interface SelectedHeader {
  selection: SelectionHeader
  drawn: string[]
  switch: SwitchHeader | null
}

export interface HeatmapCells {
  x: string[]
  y: string[]
  xgap: number
  texttemplate: string
}

export interface HeatmapAxis {
  range: number[]
  domain?: number[]
  tickangle?: number
  tickvals: number[]
  ticktext: string[]
  tickfont: Record<string, number>
}

export interface HeatmapLayout {
  xaxis: HeatmapAxis
  yaxis: HeatmapAxis
  height: number
  margin: Record<string, number>
}

export interface HeatmapStage {
  zmin: number
  zmax: number
  diverging: boolean
  words: string
}

export interface Said {
  question: string
  line: string[]
}

export interface PictureHeader {
  heat: HeatmapCells
  layout: HeatmapLayout
  room: number[]
  entropy: (number | null)[]
  stages: Record<string, HeatmapStage>
  parts: string[]
  rows: number
  columns: number
  width: number
  tokens: string[]
  known: boolean[]
  keys: string[] | null
  keysKnown: boolean[] | null
  scale: number
  sent: string[]
  head: number | null
  masks: string[]
  logits: string
  emptyRow: string
  caption: Record<string, string>
  called: string
  calm: boolean
  digits: number
  said: Said[]
}

export interface SaveFiguresHeader {
  figures: Record<string, string>
}

export interface Selection {
  values: QueryAndStage
  defaults: QueryAndStage
}

export interface Box {
  step: string
  title: string
  note: string
  column: number
  lane: number
}

export interface Arrow {
  start: number
  end: number
  name: string
  shape: number[]
}

export interface StepGraphHeader {
  boxes: Box[]
  arrows: Arrow[]
  chosen: number
}

export interface MapTile {
  level: number
  row: number
  column: number
  height: number
  width: number
  final: boolean
}

export interface MapTexts {
  side: number
  chunk: number
  texts: string[]
}

export interface MapLink {
  query: number
  key: number
  weight: number
  texts: [string, string]
}

export interface MapFound {
  words: string
  side: number
  positions: number[]
}

export interface StreetMapHeader {
  map: string
  chosen: number
  rows: number
  columns: number
  sides: number
  top: number
  side: number
  exactSide: number
  chunk: number
  least: number
  done: number
  tiles: MapTile[]
  texts: MapTexts[]
  row: number
  greatest: MapLink[]
  cell: [number, number] | null
  found: MapFound | null
  links: MapLink[] | null
}

export interface MapAsked {
  map: string
  tiles: [number, number, number][]
  texts: [number, number][]
  row: number
  block: number[]
  words: string
  side: number
  far: number[]
  shown: [number, number, number][]
  query: number
}

export interface SweepHeader {
  kind: string
  size: number
  names: string[]
  values: number[]
  at: number
  shown: number[]
  block: number
  biased: boolean
  digits: number
  selection: SelectionHeader
}

export interface Headers {
  chart: ChartHeader
  comparison: ComparisonHeader
  copy_link: CopyLinkHeader
  examples: ExamplesHeader
  focus_button: FocusButtonHeader
  head_grid: HeadGridHeader
  head_view: HeadViewHeader
  layer_lines: LayerLinesHeader
  learning: LearningHeader
  lights: LightsHeader
  mask_grid: MaskGridHeader
  matrices: MatricesHeader
  model_window: ModelWindowHeader
  next_pieces: NextPiecesHeader
  number_grid: NumberGridHeader
  picture: SelectedHeader
  picture_content: PictureHeader
  save_figures: SaveFiguresHeader
  selection: Selection
  step_graph: StepGraphHeader
  street_map: StreetMapHeader
  sweep: SweepHeader
}

export interface Answers {
  chart: { point: number }
  comparison: {}
  copy_link: {}
  examples: { example: number }
  focus_button: {}
  head_grid: { head: number }
  head_view: { active: number[] }
  layer_lines: {}
  learning: {}
  lights: {}
  mask_grid: { paint: Paint }
  matrices: { cell: [number, number] }
  model_window: { head: number; switched: [number, number]; lens: string; pair: [number, number]; piece: number; act: string }
  next_pieces: { piece: number }
  number_grid: { cells: string[][] }
  picture: { word: number }
  save_figures: {}
  selection: { selection: QueryAndStage }
  step_graph: { step: string }
  street_map: { ask: MapAsked }
  sweep: { at: number }
}
