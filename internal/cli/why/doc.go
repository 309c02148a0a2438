// Package why is `hookctl why`: one screen about one decision.
package why
