// Package why tells the story of one decision: what an agent asked for, what it was told,
// which hook and which rule decided, what each hook changed, and who approved.
//
// hookctl why and the console's page of the same name show the same [Story], which is made
// of the records of one chain alone. It contains what agents, hooks and people wrote: who
// shows it makes it safe to look at.
package why
